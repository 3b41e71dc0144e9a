/* Every operation over a batch, against a loop over its elements: wherever the batch lies, where some inputs have none,
 * where it has one element and where it has none; and gradients through the map, and within it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tensor.h"
#include "matrices.h"
#include "ops/operation.h"
#include "probe.h"

enum { INPUTS = 4, MOST = 4096, BATCH = 3 };

struct map_case {
	lb_tensor *(*fn)(lb_tensor *const *in);
	const char *name;
	const char *shapes; /* of one element: "2,3;3" */
	bool has_grad; /* gradients, too */
};

/* A function of the inputs a, b, c, d: numbers between 0 and 1, of f64. */
#define FN(name, ...) \
	static lb_tensor *f_##name(lb_tensor *const *in) \
	{ \
		lb_tensor *a = in[0], *b = in[1], *c = in[2], *d = in[3]; \
		(void)a, (void)b, (void)c, (void)d; \
		return __VA_ARGS__; \
	}
#define CASE(name, shapes) { f_##name, #name, shapes, false }
#define SMOOTH(name, shapes) { f_##name, #name, shapes, true }

/* ---- one case ---- */

struct run {
	const struct map_case *test;
	int n;
	struct {
		int rank;
		int64_t shape[LB_MAX_RANK], size;
	} in[INPUTS];
	lb_tensor *all[INPUTS]; /* (BATCH, shape) */
};

static void read_shapes(struct run *r)
{
	const char *text = r->test->shapes;
	for (r->n = 0; text; r->n++) {
		int rank = 0;
		r->in[r->n].size = 1;
		while (*text && *text != ';') {
			char *end;
			r->in[r->n].shape[rank] = strtoll(text, &end, 10);
			r->in[r->n].size *= r->in[r->n].shape[rank++];
			text = end + (*end == ',');
		}
		r->in[r->n].rank = rank;
		text = *text == ';' ? text + 1 : NULL;
	}
}

static void make_inputs(struct run *r)
{
	static double values[MOST];
	uint64_t seed = 0;
	for (int i = 0; i < r->n; i++) {
		int64_t shape[LB_MAX_RANK] = { BATCH };
		memcpy(shape + 1, r->in[i].shape, (size_t)r->in[i].rank * sizeof *shape);
		for (int64_t k = 0; k < BATCH * r->in[i].size; k++)
			values[k] = fmod((double)++seed * 0.61803398874989484820, 1);
		r->all[i] = lb_from_data(values, (size_t)(BATCH * r->in[i].size) * 8,
					 (lb_list){ r->in[i].rank + 1, shape }, LB_F64);
	}
}

static bool wrong(const struct run *r, const char *what)
{
	printf("# %s %s: %s %s\n", r->test->name, r->test->shapes, what, lb_error_message());
	lb_clear_error();
	return false;
}

/* Within what sums in another order may differ by; NaN equals NaN. */
static bool same(lb_tensor *got, lb_tensor *expected)
{
	if (!got || !expected || lb_dtype_of(got) != lb_dtype_of(expected) || lb_rank(got) != lb_rank(expected) ||
	    memcmp(lb_shape(got), lb_shape(expected), (size_t)lb_rank(got) * sizeof(int64_t)) != 0)
		return false;
	lb_dtype dtype = lb_dtype_of(got);
	double off = dtype == LB_F64 ? 1e-11 : dtype == LB_F32 || dtype == LB_C64 ? 1e-5 : 1e-2;
	lb_dtype wide = dtype == LB_C64 ? LB_C64 : LB_F64;
	return lb_item(lb_allclose(lb_astype(got, wide), lb_astype(expected, wide), off, off, true)) == 1;
}

static bool call(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct run *r = context;
	lb_tensor *all[INPUTS] = { 0 };
	(void)n_out;
	for (int i = 0; i < n; i++)
		all[i] = in[i];
	out[0] = r->test->fn(all);
	return out[0] != NULL;
}

/* ---- a batch ---- */

enum place { FIRST, MIDDLE, LAST, PLACES };

static int axis_at(enum place place, int rank)
{
	return place == FIRST ? 0 : place == LAST ? -1 : (rank + 1) / 2;
}

struct layout {
	enum place place;
	int64_t n;
	int without; /* the input that has no axis; -1: all have one */
};

static void lay_out(const struct run *r, const struct layout *l, lb_tensor **in, int *axes)
{
	for (int i = 0; i < r->n; i++) {
		axes[i] = i == l->without ? LB_NO_AXIS : axis_at(l->place, r->in[i].rank);
		in[i] = axes[i] == LB_NO_AXIS ? lb_slice(r->all[i], LB_AT(0)) : lb_slice(r->all[i], LB_TO(l->n));
		if (axes[i] != LB_NO_AXIS)
			in[i] = lb_contiguous(lb_moveaxis(in[i], 0, axes[i]));
	}
}

/* The same by a loop. */
static lb_tensor *loop(lb_function *fn, const struct run *r, const struct layout *l)
{
	lb_tensor *parts[BATCH];
	for (int64_t at = 0; at < l->n; at++) {
		lb_tensor *in[INPUTS];
		for (int i = 0; i < r->n; i++)
			in[i] = lb_slice(r->all[i], LB_AT(i == l->without ? 0 : at));
		if (!fn((void *)r, r->n, in, 1, &parts[at]))
			return NULL;
	}
	return lb_stack((int)l->n, parts, 0);
}

static bool check_function(lb_function *fn, const struct run *r, const struct layout *l)
{
	lb_tensor *in[INPUTS], *one[INPUTS], *out, *like;
	int axes[INPUTS];
	lay_out(r, l, in, axes);
	for (int i = 0; i < r->n; i++)
		one[i] = lb_slice(r->all[i], LB_AT(0));
	if (!fn((void *)r, r->n, one, 1, &like))
		return wrong(r, "without a batch:");
	int axis = axis_at(l->place, lb_rank(like));
	if (!lb_vmap(fn, (void *)r, r->n, in, axes, 1, &axis, &out))
		return wrong(r, "no result:");
	lb_tensor *y = lb_moveaxis(out, axis, 0);
	if (l->n == 0)
		return (lb_eval(y) && lb_dim(y, 0) == 0 && lb_rank(y) == lb_rank(like) + 1 &&
			lb_dtype_of(y) == lb_dtype_of(like) &&
			memcmp(lb_shape(y) + 1, lb_shape(like), (size_t)lb_rank(like) * 8) == 0) ||
		       wrong(r, "of no elements:");
	if (same(y, loop(fn, r, l)))
		return true;
	char what[80];
	snprintf(what, sizeof what, "differs from a loop, place %d, %d elements, without input %d:", (int)l->place,
		 (int)l->n, l->without);
	return wrong(r, what);
}

static bool check_layouts(lb_function *fn, const struct run *r)
{
	struct layout all[PLACES + 2 + INPUTS] = { { FIRST, 1, -1 }, { FIRST, 0, -1 } };
	int n = 2;
	bool ok = true;
	for (int place = 0; place < PLACES; place++)
		all[n++] = (struct layout){ (enum place)place, BATCH, -1 };
	for (int i = 0; i < r->n && r->n > 1; i++)
		all[n++] = (struct layout){ (enum place)(i % PLACES), BATCH, i };
	for (int i = 0; i < n && ok; i++)
		LB_SCOPE
			ok = check_function(fn, r, &all[i]);
	return ok;
}

/* ---- gradients ---- */

static lb_tensor *weighted(lb_tensor *y)
{
	lb_tensor *weights = y ? lb_reshape(lb_sin(lb_arange(1, (double)lb_size(y) + 1, 1, LB_F64)),
					    (lb_list){ lb_rank(y), lb_shape(y) })
			       : NULL;
	return lb_sum(lb_multiply(y, weights), LB_ALL_AXES, false);
}

static bool number(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	if (!call(context, n, in, n_out, out))
		return false;
	out[0] = weighted(out[0]);
	return out[0] != NULL;
}

/* All gradients in a row. */
static bool gradient(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *grads[INPUTS];
	(void)n_out;
	if (!lb_grad(number, context, n, in, grads))
		return false;
	for (int i = 0; i < n; i++)
		grads[i] = lb_reshape(grads[i], LB_SHAPE(-1));
	out[0] = lb_concatenate(n, grads, 0);
	return out[0] != NULL;
}

static bool number_of_map(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	if (!lb_vmap(call, context, n, in, NULL, n_out, NULL, out))
		return false;
	out[0] = weighted(out[0]);
	return out[0] != NULL;
}

static bool number_of_loop(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *parts[BATCH], *one[INPUTS];
	(void)n_out;
	for (int at = 0; at < BATCH; at++) {
		for (int i = 0; i < n; i++)
			one[i] = lb_slice(in[i], LB_AT(at));
		if (!call(context, n, one, 1, &parts[at]))
			return false;
	}
	out[0] = weighted(lb_stack(BATCH, parts, 0));
	return out[0] != NULL;
}

static bool check_gradients(struct run *r)
{
	lb_tensor *got[INPUTS], *expected[INPUTS];
	if (!lb_grad(number_of_loop, r, r->n, r->all, expected))
		return wrong(r, "no gradient:");
	if (!lb_grad(number_of_map, r, r->n, r->all, got))
		return wrong(r, "no gradient of the map:");
	for (int i = 0; i < r->n; i++) {
		if (!same(got[i], expected[i]))
			return wrong(r, "another gradient of the map:");
	}
	return check_layouts(gradient, r);
}

/* ---- all cases ---- */

static bool seen[LB_OPS];

static void mark(const struct lb_tensor *t)
{
	seen[t->op] = true;
	for (uint32_t i = 0; i < t->n_inputs && !(lb_tensor_flags(t) & LB_FLAG_DETACHED); i++)
		mark(lb_tensor_input(t, i));
}

static void mark_operations(const struct run *r)
{
	LB_SCOPE {
		lb_tensor *in[INPUTS], *out;
		for (int i = 0; i < r->n; i++)
			in[i] = lb_slice(r->all[i], LB_AT(0));
		if (call((void *)r, r->n, in, 1, &out))
			mark(out);
	}
	lb_clear_error();
}

static bool check_all(const struct map_case *cases, size_t n)
{
	bool ok = true;
	for (size_t i = 0; i < n; i++)
		LB_SCOPE {
			struct run r = { .test = &cases[i] };
			read_shapes(&r);
			make_inputs(&r);
			mark_operations(&r);
			ok = check_layouts(call, &r) && ok;
			if (cases[i].has_grad)
				ok = check_gradients(&r) && ok;
		}
	return ok;
}
#define CHECK(cases) assert_true(check_all(cases, sizeof(cases) / sizeof *(cases)))

/* ---- elementwise ---- */

static lb_tensor *whole(lb_tensor *x, double most)
{
	return lb_astype(lb_multiply(x, lb_scalar(most)), LB_I32);
}

static lb_tensor *complex(lb_tensor *x)
{
	lb_tensor *i = lb_sqrt(lb_full(LB_SHAPE(), -1, LB_C64));
	return lb_exp(lb_multiply(lb_astype(x, LB_C64), i));
}

/* Of integers what is not of f64. */
#define EACH_UNARY(name) \
	static lb_tensor *f_##name(lb_tensor *const *in) \
	{ \
		lb_tensor *y = lb_##name(in[0]); \
		if (!y) \
			lb_clear_error(); \
		return y ? y : lb_##name(whole(in[0], 100)); \
	}
#define EACH_BINARY(name) \
	static lb_tensor *f_##name(lb_tensor *const *in) \
	{ \
		lb_tensor *y = lb_##name(in[0], in[1]); \
		if (!y) \
			lb_clear_error(); \
		return y ? y : lb_##name(whole(in[0], 100), whole(in[1], 5)); \
	}
#include "each_op.h"

FN(real_of, lb_real(complex(a)))
FN(imag_of, lb_imag(complex(a)))
FN(conjugate_of, lb_conjugate(complex(a)))
FN(clip, lb_clip(a, b, c))
FN(where, lb_where(lb_less(a, lb_scalar(0.5)), b, c))
FN(astype, lb_astype(lb_add(a, b), LB_F16))
FN(chain, lb_multiply(lb_gelu(lb_add(a, b)), lb_silu(lb_subtract(a, lb_scalar(0.5)))))
FN(exps, lb_exp(a))
FN(products, lb_multiply(a, lb_add(b, lb_scalar(1))))
FN(powers, lb_power(a, b))

static void elementwise(void **state)
{
	(void)state;
	static const struct map_case cases[] = {
#define EACH_UNARY(name) CASE(name, "2,3"), CASE(name, ""),
#define EACH_BINARY(name) CASE(name, "2,3;2,3"), CASE(name, "3;2,1"), CASE(name, ";4"), CASE(name, "2,1,2;"),
#include "each_op.h"
		CASE(real_of, "2,3"),      CASE(imag_of, "3"),    CASE(conjugate_of, ""),    SMOOTH(clip, "4;4;4"),
		CASE(clip, "3,4;4;3,1"),   CASE(where, "3,4;4;"), SMOOTH(where, ";2,3;3"),   CASE(astype, "3;2,3"),
		SMOOTH(chain, "2,3;3"),    SMOOTH(exps, "2,3"),   SMOOTH(products, "3;2,1"), SMOOTH(products, ";3"),
		SMOOTH(powers, "2,3;1,3"),
	};
	CHECK(cases);
}

/* ---- views and moves ---- */

FN(reshape, lb_reshape(a, LB_SHAPE(3, -1)))
FN(reshape_moved, lb_reshape(lb_transpose(a, LB_ALL_AXES), LB_SHAPE(-1)))
FN(transpose, lb_exp(lb_transpose(a, LB_ALL_AXES)))
FN(transpose_120, lb_transpose(a, LB_AXES(1, 2, 0)))
FN(slice, lb_slice(a, LB_RANGE(1, 3), LB_RANGE(LB_END, 0, -2)))
FN(slice_at, lb_slice(a, LB_AT(-1), LB_NEW_AXIS, LB_FROM(1)))
FN(slice_of_transposed, lb_slice(lb_transpose(lb_exp(a), LB_ALL_AXES), LB_FROM(1), LB_REVERSED))
FN(broadcast, lb_multiply(lb_broadcast_to(a, LB_SHAPE(2, 4, 3)), lb_arange(0, 3, 1, LB_F64)))
FN(broadcast_view, lb_slice(lb_transpose(lb_broadcast_to(a, LB_SHAPE(4, 3)), LB_ALL_AXES), LB_FROM(1)))
FN(expand, lb_expand_dims(a, LB_AXES(0, -1)))
FN(squeeze, lb_squeeze(a, LB_ALL_AXES))
FN(flatten, lb_flatten(lb_transpose(a, LB_ALL_AXES), 0, -1))
FN(as_strided, lb_as_strided(a, LB_SHAPE(3, 3), LB_STRIDES(1, 2), 1))
FN(windows, lb_slice(lb_as_strided(lb_exp(a), LB_SHAPE(4, 3), LB_STRIDES(1, 1), 0), LB_FROM(1)))
FN(stop_gradient, lb_multiply(a, lb_stop_gradient(lb_exp(a))))
FN(depends, lb_depends(lb_transpose(a, LB_ALL_AXES), 1, &b))
FN(depends_on, lb_multiply(lb_depends(lb_arange(0, 6, 1, LB_F64), 1, &a), b))
FN(contiguous, lb_contiguous(lb_transpose(a, LB_ALL_AXES)))
FN(identity, a)
FN(constant, lb_depends(lb_ones(LB_SHAPE(2), LB_F64), 1, &a))
FN(bitcast, lb_bitcast(a, LB_U16))
FN(decode, lb_decode(lb_astype(whole(a, 200), LB_U8), LB_BIG_ENDIAN, LB_SHAPE(2, 2), LB_I16))
FN(decode_blocks, lb_decode(lb_astype(whole(a, 100), LB_U8), LB_Q8_0, LB_SHAPE(1, 32), LB_F32))
FN(concatenate, lb_concatenate(2, in, 0))
FN(concatenate_last, lb_concatenate(3, (lb_tensor *[]){ a, lb_ones(LB_SHAPE(2, 1), LB_F64), lb_square(b) }, -1))
FN(stack, lb_stack(2, in, 1))
FN(pad, lb_pad(a, LB_SHAPE(1, 0), LB_SHAPE(0, 2), 5))
FN(pad_low, lb_pad(a, LB_SHAPE(0, 2, 1), LB_SHAPE(), 1))
FN(roll, lb_roll(a, LB_AXES(1, -2), LB_AXES(0, 1)))
FN(tile, lb_tile(a, LB_SHAPE(2, 1, 2)))
FN(repeat, lb_repeat(a, 3, 0))
FN(tril, lb_tril(a, 1))
FN(diag, lb_diag(a, -1))

static lb_tensor *f_split(lb_tensor *const *in)
{
	lb_tensor *p[3];
	return lb_split(lb_exp(in[0]), 3, -1, p) ? lb_add(lb_multiply(p[0], p[1]), lb_sin(p[2])) : NULL;
}

static void views(void **state)
{
	(void)state;
	static const struct map_case cases[] = {
		SMOOTH(reshape, "2,3"),
		CASE(reshape, "6,2,1"),
		SMOOTH(reshape_moved, "2,3"),
		SMOOTH(transpose, "2,3"),
		SMOOTH(transpose, "3,3"),
		SMOOTH(transpose_120, "2,3,4"),
		SMOOTH(transpose_120, "3,3,3"),
		CASE(transpose_120, "1,3,1"),
		SMOOTH(slice, "4,5"),
		CASE(slice, "3,4,2"),
		SMOOTH(slice_at, "3,4"),
		CASE(slice_at, "2,2,3"),
		SMOOTH(slice_of_transposed, "3,4"),
		SMOOTH(broadcast, "3"),
		SMOOTH(broadcast, "4,1"),
		SMOOTH(broadcast, ""),
		SMOOTH(broadcast_view, "3"),
		SMOOTH(broadcast_view, "4,1"),
		SMOOTH(expand, "2,3"),
		CASE(expand, ""),
		SMOOTH(squeeze, "1,3,1"),
		SMOOTH(flatten, "2,3"),
		CASE(flatten, "2,1,2"),
		SMOOTH(as_strided, "8"),
		CASE(as_strided, "2,4"),
		SMOOTH(windows, "6"),
		SMOOTH(split, "2,6"),
		SMOOTH(stop_gradient, "2,3"),
		SMOOTH(depends, "2,3;2"),
		SMOOTH(depends_on, "2;6"),
		CASE(constant, "2"),
		SMOOTH(identity, "2,3"),
		SMOOTH(contiguous, "2,3"),
		CASE(bitcast, "2,3"),
		CASE(decode, "8"),
		CASE(decode_blocks, "34"),
		SMOOTH(concatenate, "2,3;1,3"),
		CASE(concatenate, "2;3"),
		SMOOTH(concatenate_last, "2,1;2,2"),
		SMOOTH(stack, "2,3;2,3"),
		SMOOTH(pad, "2,3"),
		SMOOTH(pad_low, "1,2,3"),
		SMOOTH(roll, "3,4"),
		SMOOTH(tile, "3,2"),
		SMOOTH(repeat, "3,2"),
		SMOOTH(tril, "3,3"),
		SMOOTH(diag, "3"),
		SMOOTH(diag, "3,3"),
	};
	CHECK(cases);
}

/* ---- reductions, scans, order ---- */

#define REDUCTION(name) \
	FN(name##_all, lb_##name(a, LB_ALL_AXES, false)) \
	FN(name##_0, lb_##name(a, LB_AXES(0), true)) \
	FN(name##_1, lb_##name(a, LB_AXES(-1), false)) \
	FN(name##_kept, lb_##name(a, LB_ALL_AXES, true))
REDUCTION(sum)
REDUCTION(mean)
REDUCTION(max)
REDUCTION(min)
REDUCTION(prod)
REDUCTION(logsumexp)
REDUCTION(argmax)
REDUCTION(argmin)
FN(sum_of, lb_sum(a, LB_AXES(0, 2), false))
FN(sum_of_none, lb_sum(a, LB_SHAPE(), false))
FN(var, lb_var(a, LB_ALL_AXES, false, 1))
FN(var_0, lb_var(a, LB_AXES(0), true, 0))
FN(all, lb_all(lb_greater(a, lb_scalar(0.2)), LB_AXES(-1), false))
FN(any, lb_any(lb_greater(a, lb_scalar(0.8)), LB_ALL_AXES, true))
FN(softmax, lb_softmax(a, LB_AXES(-1)))
FN(softmax_0, lb_softmax(a, LB_AXES(0)))
FN(softmax_all, lb_softmax(a, LB_ALL_AXES))
FN(median, lb_median(a, LB_AXES(-1), false))
FN(unique, lb_unique(a, 4, NULL).values)
FN(unique_places, lb_unique(a, 4, NULL).inverse)
FN(unique_counts, lb_unique(lb_round(lb_multiply(a, lb_scalar(3))), 4, NULL).counts)
FN(diff, lb_diff(a, 1, 0))
FN(cross_entropy, lb_cross_entropy(a, lb_astype(lb_multiply(b, lb_scalar(3)), LB_I32)))
FN(atleast_3d, lb_square(lb_atleast_3d(a)))
FN(cumsum, lb_cumsum(a, 0, false, true))
FN(cumsum_back, lb_cumsum(a, -1, true, false))
FN(cumprod, lb_cumprod(a, -1, false, true))
FN(cummax, lb_cummax(a, 0, true, true))
FN(logcumsumexp, lb_logcumsumexp(a, -1, false, true))
FN(sort, lb_sort(a, -1))
FN(sort_0, lb_sort(a, 0))
FN(argsort, lb_argsort(a, 0))
FN(topk, lb_topk(a, 2, -1))
FN(topk_0, lb_topk(a, 1, 0))
FN(partition, lb_slice(lb_partition(a, 2, -1), LB_REST, LB_AT(2)))
FN(argpartition, lb_argpartition(a, 1, 0))
FN(searchsorted, lb_searchsorted(lb_sort(b, 0), a, true))
FN(searchsorted_one, lb_searchsorted(lb_linspace(0, 1, 9, true, LB_F64), a, false))
FN(fp8, lb_from_fp8(lb_to_fp8(a), LB_F16))
FN(categorical, lb_categorical(a, -1, lb_key(7)))
FN(categorical_0, lb_categorical(lb_multiply(a, b), 0, lb_key(8)))
FN(random_bits, lb_random_bits(lb_astype(lb_multiply(a, lb_scalar(1e6)), LB_U32), LB_SHAPE(3), LB_U16))
FN(random_scalar, lb_random_bits(lb_astype(lb_multiply(a, lb_scalar(1e6)), LB_U32), LB_SHAPE(), LB_U32))
FN(noise, lb_add(a, lb_random_normal(LB_SHAPE(3), LB_F64, lb_key(3))))

#define REDUCED(name) \
	SMOOTH(name##_all, "2,3"), SMOOTH(name##_0, "3,2"), SMOOTH(name##_1, "2,2,3"), SMOOTH(name##_kept, "4"), \
	    CASE(name##_all, "")
#define ARG_REDUCED(name) \
	CASE(name##_all, "2,3"), CASE(name##_0, "3,2"), CASE(name##_1, "2,2,3"), CASE(name##_kept, "4")

static void reductions(void **state)
{
	(void)state;
	static const struct map_case cases[] = {
		REDUCED(sum),
		REDUCED(mean),
		REDUCED(max),
		REDUCED(min),
		REDUCED(prod),
		REDUCED(logsumexp),
		ARG_REDUCED(argmax),
		ARG_REDUCED(argmin),
		SMOOTH(sum_of, "2,3,2"),
		CASE(sum_of_none, "3"),
		SMOOTH(var, "2,3"),
		SMOOTH(var_0, "3,2"),
		CASE(all, "2,3"),
		CASE(any, "2,3"),
		SMOOTH(softmax, "2,3"),
		SMOOTH(softmax_0, "3,2"),
		SMOOTH(softmax_all, "2,3"),
		SMOOTH(median, "2,5"),
		SMOOTH(unique, "2,3"),
		CASE(unique_places, "2,3"),
		CASE(unique_counts, "7"),
		SMOOTH(diff, "4,2"),
		CASE(cross_entropy, "2,3;2"),
		SMOOTH(atleast_3d, "4"),
		SMOOTH(cumsum, "3,2"),
		SMOOTH(cumsum_back, "4"),
		SMOOTH(cumprod, "2,4"),
		SMOOTH(cummax, "4,2"),
		SMOOTH(logcumsumexp, "2,4"),
		SMOOTH(sort, "2,4"),
		SMOOTH(sort_0, "4,2"),
		CASE(argsort, "4,2"),
		SMOOTH(topk, "2,4"),
		SMOOTH(topk_0, "5"),
		CASE(partition, "2,5"),
		CASE(argpartition, "4,2"),
		CASE(searchsorted, "2,3;5"),
		CASE(searchsorted, ";5"),
		CASE(searchsorted_one, "3,2"),
		CASE(fp8, "2,3"),
		CASE(categorical, "2,5"),
		CASE(categorical_0, "5,2;5,1"),
		CASE(random_bits, "2"),
		CASE(random_bits, "4,2"),
		CASE(random_scalar, "2"),
		SMOOTH(noise, "3"),
	};
	CHECK(cases);
}

/* ---- products, gathers, updates ---- */

/* From -n up to n - 1. */
static lb_tensor *index_below(lb_tensor *x, int n)
{
	return lb_subtract(lb_astype(lb_multiply(x, lb_scalar(2 * n)), LB_I32), lb_scalar_int(n));
}

static lb_tensor *indices(lb_list shape)
{
	static const int32_t values[] = { 2, 0, -1, 2, 1, 0, 2, 2 };
	int64_t n = 1;
	for (int i = 0; i < shape.n; i++)
		n *= shape.v[i];
	return lb_from_data(values, (size_t)n * 4, shape, LB_I32);
}

static lb_tensor *half(lb_tensor *x)
{
	return lb_astype(x, LB_F16);
}

FN(matmul, lb_matmul(a, b))
FN(addmm, lb_addmm(c, a, b, 0.5, -2))
FN(linear, lb_linear(a, b, c))
FN(matmul_in_steps, lb_matmul_in_steps(half(a), half(b)))
FN(einsum, lb_einsum("bij,kj->bik", 2, in))
static lb_tensor *kept(void)
{
	return lb_from_data((uint8_t[]){ 1, 0, 0, 1 }, 4, LB_SHAPE(2, 2), LB_BOOL);
}

FN(block_masked_mm, lb_block_masked_mm(a, b, 2, NULL, kept(), NULL))
FN(segmented_mm, lb_segmented_mm(a, b, lb_from_data((int32_t[]){ 0, 2, 1, 3 }, 16, LB_SHAPE(2, 2), LB_I32)))
FN(gather_mm, lb_gather_mm(a, b, lb_from_data((int32_t[]){ 1, 0, 1 }, 12, LB_SHAPE(3), LB_I32), NULL))
FN(block_masked,
   lb_block_masked_mm(a, b, 2, NULL, lb_greater(lb_slice(a, LB_RANGE(0, 2), LB_RANGE(0, 2)), lb_scalar(0)), NULL))
FN(hadamard, lb_hadamard_transform(a, 0))
FN(take, lb_take(a, indices(LB_SHAPE(2, 2)), 0))
FN(take_1, lb_take(lb_exp(a), indices(LB_SHAPE(4)), 1))
FN(take_at, lb_take(a, index_below(b, 3), 0))
FN(take_at_1, lb_take(a, index_below(b, 3), 1))
FN(embedding, lb_embedding(lb_ones(LB_SHAPE(4, 2), LB_F64), index_below(a, 4)))
FN(take_along, lb_take_along_axis(a, indices(LB_SHAPE(2, 4)), 1))
FN(take_along_at, lb_take_along_axis(a, index_below(b, 3), 0))
FN(slice_update, lb_slice_update(a, b, LB_RANGE(0, 4, 2), LB_REVERSED))
FN(slice_update_at, lb_slice_update(lb_exp(a), b, LB_ALL, LB_AT(1)))
FN(slice_add, lb_slice_add(a, b, LB_FROM(1), LB_RANGE(2, 0, -1)))
FN(slice_update_none, lb_slice_update(a, b, LB_RANGE(2, 2)))
FN(strided_add, lb_strided_add(a, b, LB_STRIDES(1, 2), 1))
FN(strided_add_one, lb_strided_add(a, b, LB_STRIDES(), 2))
FN(scatter_add, lb_scatter_add(a, indices(LB_SHAPE(4)), b, 0))
FN(scatter_add_at, lb_scatter_add(a, index_below(c, 3), b, 0))
FN(scatter_add_at_1, lb_scatter_add(a, index_below(c, 3), b, 1))
FN(put_along, lb_put_along_axis(a, indices(LB_SHAPE(4, 2)), b, 0, LB_PUT_ASSIGN))
FN(put_along_add, lb_put_along_axis(a, index_below(c, 3), b, 1, LB_PUT_ADD))
FN(put_along_max, lb_put_along_axis(a, index_below(c, 3), b, 1, LB_PUT_MAX))

static void products(void **state)
{
	(void)state;
	static const struct map_case cases[] = {
		SMOOTH(matmul, "2,3;3,2"),
		SMOOTH(matmul, "3;3"),
		SMOOTH(matmul, "3;3,2"),
		SMOOTH(matmul, "2,3;3"),
		SMOOTH(matmul, "2,2,3;3,2"),
		CASE(matmul, "2,3;2,3,2"),
		SMOOTH(matmul, "2,1,2,3;3,3,2"),
		SMOOTH(matmul, "3;2,3,2"),
		SMOOTH(matmul, "2,2,3;3"),
		SMOOTH(addmm, "2,3;3,2;2,2"),
		SMOOTH(addmm, "2,2,3;3,2;2"),
		SMOOTH(addmm, "3;3,2;2"),
		SMOOTH(addmm, "2,3;3;"),
		SMOOTH(addmm, "2,3;3;2"),
		CASE(addmm, "3;2,3,2;2,2"),
		CASE(addmm, "2,2,3;3;2,1"),
		CASE(addmm, "3;3;"),
		SMOOTH(linear, "2,2,3;4,3;4"),
		SMOOTH(linear, "3;4,3;4"),
		CASE(matmul_in_steps, "2,3;3,2"),
		CASE(matmul_in_steps, "2,2,3;3,2"),
		SMOOTH(einsum, "2,2,3;4,3"),
		SMOOTH(block_masked_mm, "3,4;4,2"),
		SMOOTH(segmented_mm, "2,3;3,2"),
		SMOOTH(gather_mm, "2,2,3;3,2"),
		SMOOTH(block_masked, "3,4;4,2"),
		SMOOTH(hadamard, "2,4"),
		SMOOTH(take, "3,2"),
		CASE(take, "3"),
		SMOOTH(take_1, "2,3,2"),
		SMOOTH(take_at, "3,2;4"),
		SMOOTH(take_at, "3,2;"),
		CASE(take_at, "3;2,2"),
		SMOOTH(take_at_1, "2,3,2;2,2"),
		CASE(take_at_1, "2,3;1"),
		CASE(embedding, "2,3"),
		SMOOTH(take_along, "2,3"),
		SMOOTH(take_along, "1,3"),
		SMOOTH(take_along_at, "3,2;4,2"),
		SMOOTH(take_along_at, "3,1;4,2"),
		SMOOTH(slice_update, "4,3;2,3"),
		SMOOTH(slice_update, "4,3;3"),
		SMOOTH(slice_update_at, "2,3;2"),
		CASE(slice_update_none, "3,2;2"),
		SMOOTH(slice_add, "3,4;2,2"),
		SMOOTH(slice_add, "3,4;"),
		SMOOTH(strided_add, "3,4;3,3"),
		SMOOTH(strided_add_one, "4;"),
		SMOOTH(scatter_add, "3,2;4,2"),
		SMOOTH(scatter_add, "3;1"),
		SMOOTH(scatter_add_at, "3,2;4,2;4"),
		CASE(scatter_add_at, "3,2;2;"),
		SMOOTH(scatter_add_at_1, "2,3,2;2,2,1,2;2,1"),
		SMOOTH(put_along, "3,2;4,2"),
		SMOOTH(put_along_add, "2,3;2,4;2,4"),
		CASE(put_along_add, "2,3;;1,4"),
		CASE(put_along_max, "2,3;2,4;1,4"),
	};
	CHECK(cases);
}

/* ---- what models are made of ---- */

FN(layer_norm, lb_layer_norm(a, b, c, 1e-3))
FN(layer_norm_weight, lb_layer_norm(a, b, NULL, 0.1))
FN(layer_norm_bias, lb_layer_norm(a, NULL, b, 0.1))
FN(layer_norm_half, lb_layer_norm(half(a), half(b), half(c), 1e-3))
FN(rms_norm, lb_rms_norm(a, b, 1e-3))
FN(rms_norm_plain, lb_rms_norm(a, NULL, 0.1))
FN(layer_norm_grad, lb_layer_norm_grad(a, b, c, 0.1).x)
FN(layer_norm_grad_weight, lb_layer_norm_grad(a, b, c, 0.1).weight)
FN(layer_norm_grad_bias, lb_layer_norm_grad(a, b, c, 0.1).bias)
FN(rms_norm_grad, lb_rms_norm_grad(a, b, c, 0.1).x)
FN(rms_norm_grad_weight, lb_rms_norm_grad(a, b, c, 0.1).weight)
FN(rms_norm_grad_plain, lb_rms_norm_grad(a, NULL, b, 0.1).x)
FN(rope, lb_rope(a, 4, false, 100, 1.5, 2))
FN(rope_traditional, lb_rope(a, 2, true, 10, 1, 0))
FN(attention, lb_attention(a, b, c, 0.7, false, NULL))
FN(attention_causal, lb_attention(a, b, c, 0.7, true, NULL))
FN(attention_mask, lb_attention(a, b, c, 1.3, true, d))
FN(attention_bool, lb_attention(a, b, c, 0.7, false, lb_greater(d, lb_scalar(0.3))))
FN(attention_grad_q, lb_attention_grad(a, b, c, 0.7, true, NULL, d).q)
FN(attention_grad_k, lb_attention_grad(a, b, c, 0.7, false, lb_eye(3, 4, 1, LB_F64), d).k)
FN(attention_grad_v, lb_attention_grad(a, b, c, 0.7, true, NULL, d).v)
FN(conv2d, lb_conv2d(a, b, (lb_conv_options){ .padding = { 1, 0 } }))
FN(conv2d_groups, lb_conv2d(a, b, (lb_conv_options){ { 2, 1 }, { 1, 1 }, { 1, 2 }, 2 }))
FN(conv1d, lb_conv1d(a, b, (lb_conv_options){ .stride = { 2 }, .padding = { 1 } }))
FN(conv3d, lb_conv3d(a, b, ((lb_conv3d_options){ .padding = { 1 } })))
FN(conv_transpose, lb_conv_transpose2d(a, b, ((lb_conv_options){ { 2, 1 }, { 1, 0 }, { 1, 1 }, 1 }), LB_SHAPE(1, 0)))
FN(conv2d_input_grad, lb_conv2d_input_grad(LB_SHAPE(1, 3, 4, 2), a, b, (lb_conv_options){ .stride = { 1, 2 } }))
FN(conv2d_weight_grad, lb_conv2d_weight_grad(a, LB_SHAPE(2, 2, 2, 2), b, (lb_conv_options){ .stride = { 1, 2 } }))

static void models(void **state)
{
	(void)state;
	static const struct map_case cases[] = {
		SMOOTH(layer_norm, "2,4;4;4"),
		SMOOTH(layer_norm, "3;3;3"),
		SMOOTH(layer_norm_weight, "2,2,3;3"),
		SMOOTH(layer_norm_bias, "2,3;3"),
		CASE(layer_norm_half, "2,4;4;4"),
		SMOOTH(rms_norm, "2,4;4"),
		SMOOTH(rms_norm_plain, "2,3"),
		SMOOTH(layer_norm_grad, "2,3;3;2,3"),
		SMOOTH(layer_norm_grad_weight, "2,3;3;2,3"),
		CASE(layer_norm_grad_weight, "3;3;3"),
		SMOOTH(layer_norm_grad_bias, "2,2,3;3;2,2,3"),
		SMOOTH(rms_norm_grad, "2,3;3;2,3"),
		SMOOTH(rms_norm_grad_weight, "2,3;3;2,3"),
		SMOOTH(rms_norm_grad_plain, "2,3;2,3"),
		SMOOTH(rope, "3,4"),
		SMOOTH(rope, "2,2,5"),
		CASE(rope_traditional, "3,4"),
		SMOOTH(attention, "1,2,3,2;1,2,4,2;1,2,4,3"),
		SMOOTH(attention, "2,4,2,2;2,2,3,2;2,2,3,2"),
		SMOOTH(attention_causal, "1,1,2,3;1,1,4,3;1,1,4,2"),
		SMOOTH(attention_mask, "1,2,2,2;1,1,3,2;1,1,3,2;2,1,3"),
		SMOOTH(attention_mask, "2,2,2,2;2,1,3,2;2,1,3,2;2,1,1,3"),
		CASE(attention_bool, "2,2,2,2;2,2,3,2;2,2,3,2;3"),
		SMOOTH(attention_grad_q, "1,2,3,2;1,1,3,2;1,1,3,2;1,2,3,2"),
		SMOOTH(attention_grad_k, "2,2,3,2;2,1,4,2;2,1,4,3;2,2,3,3"),
		SMOOTH(attention_grad_v, "2,2,3,2;2,1,3,2;2,1,3,2;2,2,3,2"),
		SMOOTH(conv2d, "2,3,4,2;2,2,2,2"),
		SMOOTH(conv2d_groups, "1,4,4,2;2,2,2,1"),
		SMOOTH(conv1d, "2,4,2;3,2,2"),
		SMOOTH(conv3d, "1,2,2,3,1;1,2,1,2,1"),
		SMOOTH(conv_transpose, "1,2,2,1;2,2,2,1"),
		SMOOTH(conv2d_input_grad, "2,2,2,2;1,2,2,2"),
		SMOOTH(conv2d_weight_grad, "1,3,4,2;1,2,2,2"),
	};
	CHECK(cases);
}

/* ---- linear algebra ---- */

static lb_tensor *f_qr(lb_tensor *const *in)
{
	lb_tensor *q, *r;
	return lb_qr(in[0], &q, &r) ? lb_add(lb_sum(q, LB_AXES(-2), true), r) : NULL;
}

static lb_tensor *f_svd(lb_tensor *const *in)
{
	lb_tensor *u, *s, *vt;
	if (!lb_svd(in[0], &u, &s, &vt))
		return NULL;
	return lb_concatenate(3,
			      (lb_tensor *[]){ lb_reshape(lb_abs(u), LB_SHAPE(-1)), lb_reshape(s, LB_SHAPE(-1)),
					       lb_reshape(lb_abs(vt), LB_SHAPE(-1)) },
			      0);
}

static lb_tensor *f_eigh(lb_tensor *const *in)
{
	lb_tensor *w, *v;
	return lb_eigh(spread(in[0]), false, &w, &v) ? lb_add(lb_square(v), lb_expand_dims(w, LB_AXES(-1))) : NULL;
}

static lb_tensor *f_slogdet(lb_tensor *const *in)
{
	lb_tensor *sign, *of;
	return lb_slogdet(apart(in[0]), &sign, &of) ? lb_add(lb_multiply(sign, lb_scalar(2)), of) : NULL;
}

static lb_tensor *f_lu(lb_tensor *const *in)
{
	lb_tensor *rows, *l, *u;
	return lb_lu(in[0], &rows, &l, &u) ? lb_add(lb_matmul(l, u), lb_expand_dims(rows, LB_AXES(-1))) : NULL;
}

static lb_tensor *to_complex(lb_tensor *a)
{
	return lb_add(a, lb_multiply(lb_square(a), lb_sqrt(lb_full(LB_SHAPE(), -1, LB_C64))));
}

static lb_tensor *f_svd_complex(lb_tensor *const *in)
{
	lb_tensor *z = to_complex(in[0]);
	return z ? f_svd(&z) : NULL;
}

static lb_tensor *f_eigh_complex(lb_tensor *const *in)
{
	lb_tensor *w, *v;
	if (!lb_eigh(spread(to_complex(in[0])), false, &w, &v))
		return NULL;
	return lb_add(lb_square(lb_abs(v)), lb_expand_dims(w, LB_AXES(-1)));
}

FN(eigvalsh_complex, lb_eigvalsh(spread(to_complex(a)), true))
FN(inv, lb_inv(apart(a)))
FN(tri_inv, lb_tri_inv(apart(a), true))
FN(cholesky, lb_cholesky(positive(a), true))
FN(svdvals, lb_svdvals(a))
FN(eigvalsh, lb_eigvalsh(spread(a), true))
FN(det, lb_det(apart(a)))
FN(eig, lb_abs(lb_eigvals(a)))
FN(solve, lb_solve(apart(a), b))
FN(solve_triangular, lb_solve_triangular(apart(a), b, true))
FN(pinv, lb_pinv(a))
FN(cross, lb_cross(a, b, -1))
FN(norm, lb_norm(a, LB_AXES(-1), false))

static void linear_algebra(void **state)
{
	(void)state;
	static const struct map_case cases[] = {
		SMOOTH(inv, "3,3"),
		SMOOTH(inv, "2,2,2"),
		SMOOTH(tri_inv, "3,3"),
		SMOOTH(cholesky, "2,3,3"),
		CASE(qr, "4,3"),
		CASE(qr, "2,3,3"),
		CASE(svd, "3,2"),
		CASE(svd, "2,2,3"),
		CASE(svd_complex, "2,2,3"),
		SMOOTH(eigh_complex, "2,3,3"),
		SMOOTH(eigvalsh_complex, "3,3"),
		CASE(svdvals, "3,2"),
		CASE(lu, "3,2"),
		CASE(lu, "2,3,3"),
		CASE(eig, "3,3"),
		CASE(eig, "2,2,2"),
		SMOOTH(eigh, "3,3"),
		SMOOTH(eigh, "2,3,3"),
		SMOOTH(eigvalsh, "2,3,3"),
		SMOOTH(det, "3,3"),
		SMOOTH(slogdet, "2,2,2"),
		SMOOTH(slogdet, "3,3"),
		SMOOTH(solve, "3,3;3,2"),
		SMOOTH(solve, "3,3;3"),
		SMOOTH(solve, "2,2,2;2,3"),
		SMOOTH(solve, "2,2;2,2,1"),
		SMOOTH(solve_triangular, "3,3;3,2"),
		CASE(pinv, "3,2"),
		SMOOTH(cross, "2,3;3"),
		SMOOTH(norm, "2,3"),
	};
	CHECK(cases);
}

/* ---- Fourier transforms ---- */

FN(fft, lb_abs(lb_fft(a, 0, 0, LB_FFT_ORTHO)))
FN(fft_2, lb_real(lb_fftn(a, LB_SHAPE(), LB_AXES(-1, 0), LB_FFT_BACKWARD)))
FN(ifft, lb_imag(lb_ifft(a, 5, -1, LB_FFT_BACKWARD)))
FN(rfft, lb_abs(lb_rfft(a, 0, -1, LB_FFT_FORWARD)))
FN(irfft, lb_irfft(a, 0, 0, LB_FFT_BACKWARD))
FN(stft, lb_abs(lb_stft(a, b, ((lb_stft_options){ .n = 4, .hop = 2 }))))
FN(istft, lb_istft(a, NULL, ((lb_stft_options){ .hop = 2 }), 7))

static void fourier(void **state)
{
	(void)state;
	static const struct map_case cases[] = {
		CASE(fft, "4"),    CASE(fft, "3,2"),    CASE(fft_2, "3,2"), CASE(fft_2, "2,3,4"),
		CASE(ifft, "2,3"), CASE(rfft, "2,5"),   CASE(irfft, "4,2"), CASE(irfft, "3"),
		CASE(stft, "7;3"), CASE(stft, "2,5;4"), CASE(istft, "3,4"), CASE(istft, "2,3,4"),
	};
	CHECK(cases);
}

/* ---- quantisation ---- */

static const lb_quant affine = { .mode = LB_QUANT_AFFINE, .bits = 4, .group = 32 }, nvfp4 = { .mode = LB_QUANT_NVFP4 },
		      mxfp4 = { .mode = LB_QUANT_MXFP4 };

static lb_tensor *single(lb_tensor *x)
{
	return x ? lb_astype(x, LB_F32) : NULL;
}

static lb_tensor *largest(lb_tensor *x)
{
	return lb_max(single(x), LB_ALL_AXES, false);
}

FN(quantize_words, lb_quantize(single(a), affine, NULL).w)
FN(quantize_scales, lb_quantize(single(a), nvfp4, largest(b)).scales)
FN(quantize_biases, lb_quantize(single(a), affine, NULL).biases)
FN(dequantize, lb_dequantize(lb_quantize(single(a), affine, NULL), affine, LB_F32))
FN(dequantize_global, lb_dequantize(lb_quantize(single(a), nvfp4, largest(b)), nvfp4, LB_F32))
FN(dequantize_plain, lb_dequantize(lb_quantize(single(a), mxfp4, NULL), mxfp4, LB_BF16))
FN(quantized_matmul, lb_quantized_matmul(single(a), lb_quantize(single(b), affine, NULL), affine, true))
FN(quantized_matmul_mx, lb_quantized_matmul(single(a), lb_quantize(single(b), mxfp4, NULL), mxfp4, false))
FN(quantized_matmul_global, lb_quantized_matmul(single(a), lb_quantize(single(b), nvfp4, largest(c)), nvfp4, true))

FN(gather_qmm, lb_gather_qmm(single(a), lb_quantize(single(b), affine, NULL), lb_zeros(LB_SHAPE(3, 1), LB_I32),
			     lb_arange(0, 2, 1, LB_I32), affine, true))

static void quantisation(void **state)
{
	(void)state;
	static const struct map_case cases[] = {
		CASE(quantize_words, "2,64"),          CASE(quantize_scales, "2,32;3"),
		CASE(quantize_biases, "64"),           CASE(dequantize, "2,32"),
		CASE(dequantize_global, "2,32;3"),     CASE(dequantize_plain, "32"),
		CASE(quantized_matmul, "3,32;2,32"),   CASE(quantized_matmul, "32;2,32"),
		CASE(quantized_matmul, "2,3,32;2,32"), CASE(quantized_matmul, "32;2,2,32"),
		CASE(quantized_matmul_mx, "3,2;2,32"), CASE(quantized_matmul_global, "3,32;2,32;2"),
		CASE(gather_qmm, "2,3,32;2,4,32"),
	};
	CHECK(cases);
}

/* ---- all of them ---- */

static void every_operation(void **state)
{
	int missing = 0;
	(void)state;
	for (int op = 0; op < LB_OPS; op++) {
		if (seen[op] || lb_operations[op].most == 0 || op == LB_OP_FUSED)
			continue;
		printf("# %s has no case here\n", lb_ops[op].name);
		missing++;
	}
	assert_int_equal(missing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(elementwise),    TEST(views),   TEST(reductions),   TEST(products),        TEST(models),
		TEST(linear_algebra), TEST(fourier), TEST(quantisation), TEST(every_operation),
	};
	return cmocka_run_group_tests_name("vmap", tests, NULL, NULL);
}
