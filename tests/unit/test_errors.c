/* Every operation given what it cannot take: it says so by name, and nothing crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "probe.h"

static lb_tensor *x23(void)
{
	return counting(LB_SHAPE(2, 3));
}

static lb_tensor *x45(void)
{
	return counting(LB_SHAPE(4, 5));
}

static lb_tensor *of(lb_dtype dtype, lb_list shape)
{
	return lb_ones(shape, dtype);
}

/* The call gives nothing, and an error that holds the words; or it gives a tensor
 * whose evaluation fails so. */
#define FAILS(call, words) \
	do { \
		LB_SCOPE { \
			lb_tensor *result_ = (call); \
			if (result_ && lb_ok()) \
				lb_eval(result_); \
			if (lb_ok()) \
				fprintf(stderr, "no error: %s\n", #call); \
			assert_true(error_has(words)); \
		} \
	} while (0)

typedef lb_tensor *(*unary_op)(lb_tensor *);
typedef lb_tensor *(*binary_op)(lb_tensor *, lb_tensor *);
typedef lb_tensor *(*reduction_op)(lb_tensor *, lb_list, bool);

#define OP(name) { #name, lb_##name },
static const struct {
	const char *name;
	unary_op run;
} unaries[] = {
#define EACH_UNARY OP
#include "each_op.h"
	OP(contiguous)
};
static const struct {
	const char *name;
	binary_op run;
} binaries[] = {
#define EACH_BINARY OP
#include "each_op.h"
};
static const struct {
	const char *name;
	reduction_op run;
} reductions[] = { OP(sum) OP(mean) OP(max) OP(min) OP(prod) OP(all) OP(any) OP(logsumexp) OP(argmax) OP(argmin) };
#undef OP

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static void elementwise_shapes(void **state)
{
	(void)state;
	for (int i = 0; i < COUNT(binaries); i++) {
		char words[64];
		snprintf(words, sizeof words, "%s (2,3) (4,5)", binaries[i].name);
		FAILS_AT_ONCE(binaries[i].run(x23(), x45()), words);
		FAILS_AT_ONCE(binaries[i].run(lb_zeros(LB_SHAPE(0, 3), LB_F32), x23()), binaries[i].name);
	}
	FAILS_AT_ONCE(lb_where(of(LB_BOOL, LB_SHAPE(2, 3)), x23(), x45()), "where (2,3) (4,5)");
	FAILS_AT_ONCE(lb_where(of(LB_BOOL, LB_SHAPE(7)), x23(), x23()), "where (2,3)");
	FAILS_AT_ONCE(lb_clip(x23(), x45(), NULL), "clip (2,3) (4,5)");
	FAILS_AT_ONCE(lb_clip(x23(), NULL, x45()), "clip (2,3) (4,5)");
	FAILS_AT_ONCE(lb_clip(x23(), NULL, NULL), "clip");
	FAILS_AT_ONCE(lb_astype(x23(), (lb_dtype)99), "astype");
	FAILS_AT_ONCE(lb_astype(x23(), (lb_dtype)-1), "astype");
}

static void weak_scalars_out_of_range(void **state)
{
	(void)state;
	FAILS_AT_ONCE(lb_add(of(LB_U8, LB_SHAPE(2)), lb_scalar_int(300)), "300 uint8");
	FAILS_AT_ONCE(lb_multiply(lb_scalar_int(-1), of(LB_U16, LB_SHAPE(2))), "-1 uint16");
	FAILS_AT_ONCE(lb_add(of(LB_I32, LB_SHAPE(2)), lb_scalar_int(INT64_MAX)), "int32");
}

static void products(void **state)
{
	(void)state;
	FAILS_AT_ONCE(lb_matmul(x23(), x45()), "matmul (2,3) (4,5)");
	FAILS_AT_ONCE(lb_matmul(x23(), lb_ones(LB_SHAPE(2), LB_F32)), "matmul (2,3)");
	FAILS_AT_ONCE(lb_matmul(lb_ones(LB_SHAPE(), LB_F32), x23()), "matmul (2,3)");
	FAILS_AT_ONCE(lb_matmul(of(LB_F32, LB_SHAPE(3, 2, 4)), of(LB_F32, LB_SHAPE(5, 4, 2))),
		      "matmul (3,2,4) (5,4,2)");
	FAILS_AT_ONCE(lb_matmul(of(LB_I32, LB_SHAPE(2, 2)), of(LB_I32, LB_SHAPE(2, 2))), "matmul int32");
	FAILS_AT_ONCE(lb_addmm(x45(), x23(), lb_ones(LB_SHAPE(3, 2), LB_F32), 1, 1), "addmm (4,5)");
	FAILS_AT_ONCE(lb_addmm(x23(), x23(), x45(), 1, 1), "addmm (2,3) (4,5)");
}

static void views(void **state)
{
	(void)state;
	FAILS_AT_ONCE(lb_reshape(x23(), LB_SHAPE(4, 2)), "reshape (2,3) (4,2)");
	FAILS_AT_ONCE(lb_reshape(x23(), LB_SHAPE(-1, 4)), "reshape (2,3)");
	FAILS_AT_ONCE(lb_reshape(x23(), LB_SHAPE(-1, -1)), "reshape -1");
	FAILS_AT_ONCE(lb_reshape(x23(), LB_SHAPE(-2, 3)), "reshape -2");
	FAILS_AT_ONCE(lb_reshape(lb_zeros(LB_SHAPE(0, 3), LB_F32), LB_SHAPE(-1, 0)), "reshape");
	FAILS_AT_ONCE(lb_reshape(x23(), LB_SHAPE(1, 1, 1, 1, 1, 1, 1, 2, 3)), "reshape 9");
	FAILS_AT_ONCE(lb_reshape(x23(), LB_SHAPE(INT64_MAX, INT64_MAX)), "reshape");
	FAILS_AT_ONCE(lb_transpose(x23(), LB_AXES(0)), "transpose (2,3)");
	FAILS_AT_ONCE(lb_transpose(x23(), LB_AXES(0, 0)), "transpose (2,3)");
	FAILS_AT_ONCE(lb_transpose(x23(), LB_AXES(0, 2)), "transpose (2,3)");
	FAILS_AT_ONCE(lb_transpose(x23(), LB_AXES(0, -3)), "transpose (2,3)");
	FAILS_AT_ONCE(lb_transpose(x23(), LB_AXES(1, 0, 2)), "transpose (2,3)");
	FAILS_AT_ONCE(lb_broadcast_to(x23(), LB_SHAPE(4, 3)), "broadcast_to (2,3) (4,3)");
	FAILS_AT_ONCE(lb_broadcast_to(x23(), LB_SHAPE(3)), "broadcast_to (2,3)");
	FAILS_AT_ONCE(lb_broadcast_to(x23(), LB_SHAPE(-1, 2, 3)), "broadcast_to -1");
	FAILS_AT_ONCE(lb_broadcast_to(x23(), LB_SHAPE(INT64_MAX, 2, 3)), "broadcast_to");
	FAILS_AT_ONCE(lb_expand_dims(x23(), LB_AXES(4)), "expand_dims (2,3)");
	FAILS_AT_ONCE(lb_expand_dims(x23(), LB_AXES(0, 0)), "expand_dims (2,3)");
	FAILS_AT_ONCE(lb_expand_dims(x23(), LB_AXES(0, 1, 2, 3, 4, 5, 6)), "expand_dims");
	FAILS_AT_ONCE(lb_squeeze(x23(), LB_AXES(0)), "squeeze (2,3)");
	FAILS_AT_ONCE(lb_squeeze(x23(), LB_AXES(2)), "squeeze (2,3)");
	FAILS_AT_ONCE(lb_flatten(x23(), 1, 0), "flatten (2,3)");
	FAILS_AT_ONCE(lb_flatten(x23(), 0, 2), "flatten (2,3)");
	FAILS_AT_ONCE(lb_flatten(x23(), -3, 1), "flatten (2,3)");
	FAILS_AT_ONCE(lb_as_strided(x23(), LB_SHAPE(7), LB_STRIDES(1), 0), "as_strided (2,3)");
	FAILS_AT_ONCE(lb_as_strided(x23(), LB_SHAPE(2), LB_STRIDES(-1), 0), "as_strided");
	FAILS_AT_ONCE(lb_as_strided(x23(), LB_SHAPE(2), LB_STRIDES(1), 5), "as_strided");
	FAILS_AT_ONCE(lb_as_strided(x23(), LB_SHAPE(2), LB_STRIDES(1), -1), "as_strided");
	FAILS_AT_ONCE(lb_as_strided(x23(), LB_SHAPE(2), LB_STRIDES(1, 1), 0), "as_strided");
	FAILS_AT_ONCE(lb_as_strided(x23(), LB_SHAPE(2, 2), LB_STRIDES(INT64_MAX, INT64_MAX), 0),
		      "as_strided (2,3) beyond 63 bits");
	FAILS_AT_ONCE(lb_as_strided(x23(), LB_SHAPE(3), LB_STRIDES(INT64_MIN), 3), "as_strided");
	FAILS_AT_ONCE(lb_as_strided(x23(), LB_SHAPE(-1), LB_STRIDES(1), 0), "as_strided");
}

static void slices(void **state)
{
	(void)state;
	FAILS_AT_ONCE(lb_slice(x23(), LB_AT(2)), "slice (2,3)");
	FAILS_AT_ONCE(lb_slice(x23(), LB_AT(-3)), "slice (2,3)");
	FAILS_AT_ONCE(lb_slice(x23(), LB_ALL, LB_AT(INT64_MIN)), "slice (2,3)");
	FAILS_AT_ONCE(lb_slice(x23(), LB_ALL, LB_ALL, LB_ALL), "slice (2,3)");
	FAILS_AT_ONCE(lb_slice(x23(), LB_RANGE(0, 2, 0)), "slice step");
	FAILS_AT_ONCE(lb_slice(x23(), LB_REST, LB_REST), "slice");
	FAILS_AT_ONCE(lb_slice(x23(), LB_NEW_AXIS, LB_NEW_AXIS, LB_NEW_AXIS, LB_NEW_AXIS, LB_NEW_AXIS, LB_NEW_AXIS,
			       LB_NEW_AXIS),
		      "slice");
	lb_index unknown = { 0, 1, 1, 77 };
	FAILS_AT_ONCE(lb_slice_n(x23(), 1, &unknown), "slice");
	FAILS_AT_ONCE(lb_slice_n(x23(), -1, NULL), "slice");
	FAILS_AT_ONCE(lb_slice_n(x23(), 1, NULL), "slice");
	LB_SCOPE {
		lb_index ends = { INT64_MIN, INT64_MAX, INT64_MAX, LB_INDEX_RANGE };
		assert_int_equal(lb_size(lb_slice_n(counting(LB_SHAPE(5)), 1, &ends)), 1);
		lb_index back = { INT64_MAX, INT64_MIN, INT64_MIN + 1, LB_INDEX_RANGE };
		lb_tensor *last = lb_slice_n(counting(LB_SHAPE(5)), 1, &back);
		assert_true(lb_size(last) == 1 && lb_item(last) == 4);
	}
}

static void reduced_axes(void **state)
{
	(void)state;
	for (int i = 0; i < COUNT(reductions); i++) {
		char words[64];
		snprintf(words, sizeof words, "%s (2,3)", reductions[i].name);
		FAILS_AT_ONCE(reductions[i].run(x23(), LB_AXES(2), false), words);
		FAILS_AT_ONCE(reductions[i].run(x23(), LB_AXES(-3), false), words);
		FAILS_AT_ONCE(reductions[i].run(x23(), LB_AXES(0, -2), false), words);
	}
	FAILS_AT_ONCE(lb_var(x23(), LB_AXES(2), false, 0), "var (2,3)");
	FAILS_AT_ONCE(lb_softmax(x23(), LB_AXES(2)), "softmax (2,3)");
	FAILS_AT_ONCE(lb_softmax(x23(), LB_AXES(1, 1)), "softmax (2,3)");
	FAILS_AT_ONCE(lb_argmax(x23(), LB_AXES(0, 1), false), "argmax (2,3)");
	FAILS(lb_max(lb_zeros(LB_SHAPE(0, 3), LB_F32), LB_AXES(0), false), "max");
	FAILS(lb_min(lb_zeros(LB_SHAPE(0), LB_I32), LB_ALL_AXES, false), "min");
	FAILS(lb_argmax(lb_zeros(LB_SHAPE(3, 0), LB_F32), LB_AXES(1), false), "argmax");
	FAILS(lb_argmin(lb_zeros(LB_SHAPE(0), LB_F32), LB_ALL_AXES, false), "argmin");
}

static void joins(void **state)
{
	(void)state;
	lb_tensor *parts[4];
	LB_SCOPE {
		lb_tensor *xs[] = { x23(), x45(), NULL };
		FAILS_AT_ONCE(lb_concatenate(2, xs, 0), "concatenate (2,3) (4,5)");
		FAILS_AT_ONCE(lb_concatenate(0, xs, 0), "concatenate");
		FAILS_AT_ONCE(lb_concatenate(-1, xs, 0), "concatenate");
		FAILS_AT_ONCE(lb_concatenate(1, xs, 2), "concatenate (2,3)");
		FAILS_AT_ONCE(lb_stack(2, xs, 0), "stack (2,3) (4,5)");
		FAILS_AT_ONCE(lb_stack(0, xs, 0), "stack");
		FAILS_AT_ONCE(lb_stack(1, xs, 3), "stack (2,3)");
		assert_null(lb_concatenate(3, xs, 0));
		lb_clear_error();
		assert_false(lb_split(x23(), 2, 1, parts));
		assert_true(error_has("split (2,3)"));
		assert_false(lb_split(x23(), 0, 1, parts));
		assert_true(error_has("split"));
		assert_false(lb_split(x23(), 3, 2, parts));
		assert_true(error_has("split (2,3)"));
	}
}

static void gathers(void **state)
{
	(void)state;
	FAILS_AT_ONCE(lb_take(x23(), x23(), 0), "take float32");
	FAILS_AT_ONCE(lb_take(x23(), of(LB_I32, LB_SHAPE(2)), 2), "take (2,3)");
	FAILS_AT_ONCE(lb_take(lb_ones(LB_SHAPE(1, 1, 1, 1, 1), LB_F32), of(LB_I32, LB_SHAPE(1, 1, 1, 1, 1)), 0),
		      "take");
	FAILS_AT_ONCE(lb_take_along_axis(x23(), of(LB_I32, LB_SHAPE(2)), 0), "take_along_axis (2,3)");
	FAILS_AT_ONCE(lb_take_along_axis(x23(), of(LB_I32, LB_SHAPE(5, 2)), 1), "take_along_axis (2,3) (5,2)");
	FAILS_AT_ONCE(lb_take_along_axis(x23(), x23(), 1), "take_along_axis float32");
	FAILS(lb_take(x23(), lb_full(LB_SHAPE(1), 3, LB_I32), 1), "take 3");
	FAILS(lb_take(x23(), lb_full(LB_SHAPE(1), -4, LB_I64), 1), "take -4 3");
	FAILS(lb_take(x23(), lb_full(LB_SHAPE(1), 1e18, LB_U64), 0), "take");
	FAILS(lb_take(lb_zeros(LB_SHAPE(0, 2), LB_F32), of(LB_I32, LB_SHAPE(1)), 0), "take");
	FAILS(lb_take_along_axis(x23(), lb_full(LB_SHAPE(2, 1), 7, LB_I32), 1), "take_along_axis 7 3");
}

static void creation(void **state)
{
	(void)state;
	float data[6] = { 0 };
	int64_t nine[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	lb_list rank9 = { 9, nine };
	FAILS_AT_ONCE(lb_from_data(data, 20, LB_SHAPE(2, 3), LB_F32), "20 24 (2,3)");
	FAILS_AT_ONCE(lb_from_data(NULL, 24, LB_SHAPE(2, 3), LB_F32), "");
	FAILS_AT_ONCE(lb_from_data(data, 24, LB_SHAPE(-2, 3), LB_F32), "");
	FAILS_AT_ONCE(lb_from_data(data, 24, LB_SHAPE(2, 3), (lb_dtype)14), "");
	FAILS_AT_ONCE(lb_from_data(data, 4, rank9, LB_F32), "9");
	FAILS_AT_ONCE(lb_from_data(data, 24, (lb_list){ 2, NULL }, LB_F32), "");
	FAILS_AT_ONCE(lb_from_memory(data, 25, LB_SHAPE(2, 3), LB_F32, NULL, NULL), "");
	FAILS_AT_ONCE(lb_from_memory(NULL, 24, LB_SHAPE(2, 3), LB_F32, NULL, NULL), "");
	FAILS_AT_ONCE(lb_zeros(LB_SHAPE(INT64_MAX, 3), LB_F32), "");
	FAILS_AT_ONCE(lb_zeros(LB_SHAPE(INT64_MAX), LB_F64), "");
	FAILS_AT_ONCE(lb_zeros(LB_SHAPE(-1), LB_F32), "-1");
	FAILS_AT_ONCE(lb_ones(rank9, LB_F32), "9");
	FAILS_AT_ONCE(lb_zeros(LB_SHAPE(2), (lb_dtype)77), "");
	FAILS_AT_ONCE(lb_full(LB_SHAPE(2), 1, (lb_dtype)-3), "");
	FAILS_AT_ONCE(lb_zeros(LB_ALL_AXES, LB_F32), "");
	FAILS_AT_ONCE(lb_eye(-1, 3, 0, LB_F32), "eye -1");
	FAILS_AT_ONCE(lb_eye(INT64_MAX, INT64_MAX, 0, LB_F32), "eye");
	FAILS_AT_ONCE(lb_arange(0, 5, 0, LB_F32), "arange step");
	FAILS_AT_ONCE(lb_arange(0, (double)NAN, 1, LB_F32), "arange");
	FAILS_AT_ONCE(lb_arange(0, (double)INFINITY, 1, LB_F32), "arange");
	FAILS_AT_ONCE(lb_arange(0, 1e300, 1e-300, LB_F64), "arange");
	FAILS_AT_ONCE(lb_arange(0, 5, 1, LB_DTYPES), "arange");
	FAILS_AT_ONCE(lb_random_uniform(LB_SHAPE(2), 0, 1, LB_I32, lb_key(1)), "random_uniform int32");
	FAILS_AT_ONCE(lb_random_normal(LB_SHAPE(2), LB_BOOL, lb_key(1)), "random_normal bool");
	FAILS_AT_ONCE(lb_random_normal(LB_SHAPE(-2), LB_F32, lb_key(1)), "random_normal");
}

static void values(void **state)
{
	(void)state;
	LB_SCOPE {
		char bytes[8];
		assert_true(isnan(lb_item(x23())));
		assert_true(error_has("item (2,3)"));
		assert_int_equal(lb_item_int(x23()), 0);
		assert_true(error_has("item (2,3)"));
		assert_false(lb_copy_out(x23(), bytes, sizeof bytes));
		assert_true(error_has("copy_out 8 24"));
		assert_false(lb_copy_out(x23(), NULL, 24));
		lb_clear_error();
		assert_int_equal(lb_dim(x23(), 2), 0);
		lb_clear_error();
		assert_int_equal(lb_dim(x23(), -1), 3);
		assert_int_equal(lb_dim(x23(), -2), 2);
		assert_true(lb_ok());
	}
}

/* NULL in, NULL out, and the error that made it NULL stays. */
static void failed_inputs(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *none = lb_add(x23(), x45()), *x = x23(), *parts[2] = { x, x };
		lb_tensor *list[2] = { x, none };
		char first[1024], bytes[24];
		snprintf(first, sizeof first, "%s", lb_error_message());
		for (int i = 0; i < COUNT(unaries); i++)
			assert_null(unaries[i].run(none));
		for (int i = 0; i < COUNT(binaries); i++) {
			assert_null(binaries[i].run(none, x));
			assert_null(binaries[i].run(x, none));
			assert_null(binaries[i].run(none, none));
		}
		for (int i = 0; i < COUNT(reductions); i++)
			assert_null(reductions[i].run(none, LB_ALL_AXES, false));
		assert_null(lb_where(none, x, x));
		assert_null(lb_where(x, none, x));
		assert_null(lb_where(x, x, none));
		assert_null(lb_clip(none, x, x));
		assert_null(lb_astype(none, LB_F32));
		assert_null(lb_reshape(none, LB_SHAPE(6)));
		assert_null(lb_transpose(none, LB_ALL_AXES));
		assert_null(lb_broadcast_to(none, LB_SHAPE(6)));
		assert_null(lb_expand_dims(none, LB_AXES(0)));
		assert_null(lb_squeeze(none, LB_ALL_AXES));
		assert_null(lb_flatten(none, 0, -1));
		assert_null(lb_as_strided(none, LB_SHAPE(1), LB_STRIDES(1), 0));
		assert_null(lb_slice(none, LB_ALL));
		assert_null(lb_var(none, LB_ALL_AXES, false, 0));
		assert_null(lb_softmax(none, LB_ALL_AXES));
		assert_null(lb_matmul(none, x));
		assert_null(lb_matmul(x, none));
		assert_null(lb_addmm(none, x, x, 1, 1));
		assert_null(lb_addmm(x, none, x, 1, 1));
		assert_null(lb_addmm(x, x, none, 1, 1));
		assert_null(lb_concatenate(2, list, 0));
		assert_null(lb_stack(2, list, 0));
		assert_false(lb_split(none, 2, 0, parts));
		assert_null(lb_take(none, x, 0));
		assert_null(lb_take(x, none, 0));
		assert_null(lb_take_along_axis(none, x, 0));
		assert_null(lb_take_along_axis(x, none, 0));
		assert_null(lb_keep(none));
		assert_null(lb_escape(none));
		assert_null(lb_named("none", none));
		lb_release(none);
		assert_false(lb_eval(none));
		assert_false(lb_eval(x, none));
		assert_true(isnan(lb_item(none)));
		assert_int_equal(lb_item_int(none), 0);
		assert_false(lb_copy_out(none, bytes, sizeof bytes));
		assert_null(lb_data(none));
		assert_null(lb_raw_data(none));
		assert_null(lb_strided_data(none, NULL));
		assert_int_equal(lb_rank(none), 0);
		assert_int_equal(lb_size(none), 0);
		assert_int_equal(lb_nbytes(none), 0);
		assert_int_equal(lb_dim(none, 0), 0);
		assert_false(lb_is_ready(none));
		assert_null(lb_name(none));
		assert_int_equal(lb_id(none), 0);
		assert_string_equal(lb_error_message(), first);
		lb_clear_error();
		assert_true(lb_ok());
		assert_string_equal(lb_error_message(), "");
		assert_null(lb_error_site());
	}
}

static void composed(void **state)
{
	(void)state;
	lb_tensor *deep = lb_ones(LB_SHAPE(1, 1, 1, 1, 1, 1, 1, 2), LB_F32), *parts[3];
	FAILS_AT_ONCE(lb_round_to(x23(), 400), "round_to 400");
	FAILS_AT_ONCE((lb_divmod(x23(), x45(), &parts[0], &parts[1]), parts[0]), "divmod: (2,3) (4,5)");
	assert_null(parts[1]);
	FAILS_AT_ONCE(lb_isclose(x23(), x45(), 0, 0, false), "isclose (2,3) (4,5)");
	FAILS_AT_ONCE(lb_allclose(x23(), x45(), 0, 0, false), "allclose (2,3) (4,5)");
	FAILS_AT_ONCE(lb_std(x23(), LB_AXES(2), false, 0), "std (2,3)");
	FAILS_AT_ONCE(lb_median(of(LB_C64, LB_SHAPE(2)), LB_ALL_AXES, false), "median complex64");
	FAILS_AT_ONCE(lb_unique(of(LB_C64, LB_SHAPE(2)), 1, NULL).values, "unique complex");
	FAILS_AT_ONCE(lb_unique(x23(), -1, NULL).values, "unique -1 (2,3)");
	FAILS_AT_ONCE(lb_unique(x23(), 2, x23()).values, "unique (2,3)");
	FAILS_AT_ONCE(lb_unique(of(LB_F32, LB_SHAPE(2, 0)), 2, NULL).counts, "unique (2,0)");
	FAILS_AT_ONCE(lb_median(of(LB_C64, LB_SHAPE(2)), LB_ALL_AXES, false), "median complex64");
	FAILS_AT_ONCE(lb_median(of(LB_F32, LB_SHAPE(2, 0)), LB_AXES(1), false), "median (2,0)");
#define MINMAX(x, axes) (lb_minmax(x, axes, false, &parts[0], &parts[1]), parts[0])
	FAILS_AT_ONCE(MINMAX(x23(), LB_AXES(2)), "minmax (2,3)");
	assert_null(parts[1]);
	FAILS_AT_ONCE(MINMAX(of(LB_F32, LB_SHAPE(2, 0)), LB_AXES(1)), "minmax: min (2,0)");
#undef MINMAX
	FAILS_AT_ONCE(lb_diff(x23(), -1, 0), "diff -1");
	FAILS_AT_ONCE(lb_diff(x23(), 1, 2), "diff (2,3)");
	FAILS_AT_ONCE(lb_diff(of(LB_F32, LB_SHAPE()), 1, 0), "diff ()");
	FAILS_AT_ONCE(lb_hanning(INT64_MAX), "hanning");
	FAILS_AT_ONCE(lb_bartlett(INT64_MAX), "bartlett");
	FAILS_AT_ONCE(lb_cross_entropy(x23(), of(LB_I32, LB_SHAPE(3))), "cross_entropy (3) (2,3)");
	FAILS_AT_ONCE(lb_cross_entropy(of(LB_F32, LB_SHAPE()), of(LB_I32, LB_SHAPE())), "cross_entropy ()");
	FAILS_AT_ONCE(lb_cross_entropy(of(LB_C64, LB_SHAPE(2)), of(LB_I32, LB_SHAPE())), "cross_entropy complex64");
	FAILS_AT_ONCE(lb_cross_entropy(of(LB_I32, LB_SHAPE(2)), of(LB_I32, LB_SHAPE())), "cross_entropy int32");
	FAILS_AT_ONCE(lb_cross_entropy(x23(), of(LB_F32, LB_SHAPE(2))), "cross_entropy integers float32");
	FAILS(lb_segmented_mm(x23(), lb_transpose(x23(), LB_ALL_AXES), lb_full(LB_SHAPE(2), 4, LB_I32)),
	      "segmented_mm segment 0 4 3");
	FAILS(lb_segmented_mm(x23(), lb_transpose(x23(), LB_ALL_AXES), lb_full(LB_SHAPE(2), -1, LB_I32)),
	      "segmented_mm -1");
	FAILS(lb_cross_entropy(x23(), lb_full(LB_SHAPE(2), 3, LB_I32)), "3");
	FAILS_AT_ONCE(lb_linspace(0, INFINITY, 3, true, LB_F32), "linspace");
	FAILS_AT_ONCE(lb_linspace(0, 1, -1, true, LB_F32), "linspace -1");
	FAILS_AT_ONCE(lb_linspace(0, 1, 3, true, (lb_dtype)99), "linspace 99");
	FAILS_AT_ONCE(lb_tri(-1, 2, 0, LB_F32), "tri -1");
	FAILS_AT_ONCE(lb_tri(1, 2, 0, (lb_dtype)99), "tri 99");
	FAILS_AT_ONCE(lb_tril(of(LB_F32, LB_SHAPE(3)), 0), "tril 2 axes");
	FAILS_AT_ONCE(lb_diagonal(x23(), 0, 1, -1), "diagonal axis 1 twice");
	FAILS_AT_ONCE(lb_diagonal(x23(), 0, 0, 2), "diagonal (2,3)");
	FAILS_AT_ONCE(lb_trace(of(LB_F32, LB_SHAPE(3)), 0, 0, 1), "trace 2 axes");
	FAILS_AT_ONCE(lb_diag(deep, 0), "diag 8");
	FAILS_AT_ONCE(lb_diag(of(LB_F32, LB_SHAPE(3)), INT64_MAX), "diag");
	FAILS_AT_ONCE(lb_diag(of(LB_F32, LB_SHAPE(3)), INT64_MIN), "diag");
	FAILS_AT_ONCE(lb_swapaxes(x23(), 0, 2), "swapaxes (2,3)");
	FAILS_AT_ONCE(lb_moveaxis(x23(), -3, 0), "moveaxis (2,3)");
	FAILS_AT_ONCE(lb_unflatten(x23(), 1, LB_SHAPE(2, -1)), "unflatten (2,3) (2,-1)");
	FAILS_AT_ONCE(lb_unflatten(x23(), 1, LB_SHAPE(2)), "unflatten (2,3) (2)");
	FAILS_AT_ONCE(lb_unflatten(deep, 7, LB_SHAPE(2, 1)), "unflatten 2 axes 8");
	FAILS_AT_ONCE(lb_repeat(x23(), -1, 0), "repeat (2,3) -1");
	FAILS_AT_ONCE(lb_repeat(x23(), INT64_MAX / 2, 0), "repeat 63 bits");
	FAILS_AT_ONCE(lb_repeat(of(LB_F32, LB_SHAPE(2, 0)), INT64_MAX, 0), "repeat (2,0)");
	FAILS_AT_ONCE(lb_tile(x23(), LB_SHAPE(2, -1)), "tile (2,3) -1");
	FAILS_AT_ONCE(lb_tile(x23(), LB_SHAPE(INT64_MAX, 1)), "tile (2,3)");
	FAILS_AT_ONCE(lb_roll(x23(), LB_AXES(1, 2), LB_AXES(0)), "roll 2 1");
	FAILS_AT_ONCE(lb_roll(x23(), LB_AXES(1), LB_AXES(2)), "roll (2,3)");
	FAILS_AT_ONCE(lb_pad_edge(x23(), LB_SHAPE(1), LB_SHAPE()), "pad_edge (2,3)");
	FAILS_AT_ONCE(lb_pad_edge(x23(), (lb_list){ 2, NULL }, LB_SHAPE()), "pad_edge (2,3)");
	FAILS_AT_ONCE(lb_random_uniform(LB_SHAPE(2), -3e38, 3e38, LB_F32, lb_key(1)), "random_uniform 3e+38");
	FAILS_AT_ONCE(lb_pad_edge(x23(), LB_SHAPE(-1, 0), LB_SHAPE()), "pad_edge (2,3) -1");
	FAILS_AT_ONCE(lb_pad_edge(of(LB_F32, LB_SHAPE(0)), LB_SHAPE(1), LB_SHAPE()), "pad_edge (0)");
	FAILS_AT_ONCE((lb_split_at(x23(), LB_AXES(1), 2, parts), parts[0]), "split_at (2,3)");
	FAILS_AT_ONCE((lb_meshgrid(9, parts, true, false, parts), NULL), "meshgrid 9");
	lb_tensor *pair[] = { x23(), x23() };
	FAILS_AT_ONCE((lb_meshgrid(2, pair, true, false, parts), parts[0]), "meshgrid tensor 0 2 axes");
	FAILS_AT_ONCE(lb_tensordot(x23(), x45(), LB_AXES(1), LB_AXES(0)), "tensordot (2,3) (4,5)");
	FAILS_AT_ONCE(lb_tensordot(x23(), x45(), LB_AXES(1), LB_AXES(0, 1)), "tensordot 1 2");
	FAILS_AT_ONCE(lb_tensordot(deep, x23(), LB_AXES(), LB_AXES()), "tensordot 10 8");
	FAILS_AT_ONCE(lb_inner(x23(), x45()), "inner (2,3) (4,5)");
	FAILS_AT_ONCE(lb_kron(deep, x23()), "kron 8 4");
	FAILS_AT_ONCE(lb_cummax(of(LB_C64, LB_SHAPE(2)), 0, false, true), "cummax complex64");
	FAILS_AT_ONCE(lb_cummax(x23(), 2, false, true), "cummax (2,3)");
	FAILS_AT_ONCE(lb_scan(x23(), (lb_scan_kind)(LB_SCAN_LOGADDEXP + 1), 0, false, true), "scan 5");
	FAILS_AT_ONCE(lb_random_randint(LB_SHAPE(2), 3, 3, LB_I32, lb_key(1)), "random_randint 3");
	FAILS_AT_ONCE(lb_random_randint(LB_SHAPE(2), 0, 256, LB_I8, lb_key(1)), "random_randint 256 int8");
	FAILS_AT_ONCE(lb_random_randint(LB_SHAPE(2), INT64_MIN, INT64_MAX, LB_I64, lb_key(1)), "random_randint");
	FAILS_AT_ONCE(lb_random_randint(LB_SHAPE(2), 0, 2, LB_F32, lb_key(1)), "random_randint integers");
	FAILS_AT_ONCE(lb_random_bernoulli(x23(), LB_SHAPE(3), lb_key(1)), "random_bernoulli (2,3) (3)");
	FAILS_AT_ONCE(lb_random_gumbel(LB_SHAPE(2), LB_I32, lb_key(1)), "random_gumbel int32");
	FAILS_AT_ONCE(lb_random_laplace(LB_SHAPE(-2), 0, 1, LB_F32, lb_key(1)), "random_laplace -2");
	FAILS_AT_ONCE(lb_random_truncated_normal(x23(), lb_scalar(2), LB_SHAPE(4, 5), LB_F32, lb_key(1)),
		      "random_truncated_normal (2,3) (4,5)");
	lb_tensor *mean = of(LB_F32, LB_SHAPE(3)), *cov = of(LB_F32, LB_SHAPE(3, 3));
#define NORMALS(mean, cov, shape, dtype) lb_random_multivariate_normal(mean, cov, shape, dtype, lb_key(1))
	FAILS_AT_ONCE(NORMALS(mean, x23(), LB_SHAPE(), LB_F32), "random_multivariate_normal (3) (2,3)");
	FAILS_AT_ONCE(NORMALS(of(LB_F32, LB_SHAPE(2)), cov, LB_SHAPE(), LB_F32),
		      "random_multivariate_normal (2) (3,3)");
	FAILS_AT_ONCE(NORMALS(of(LB_F32, LB_SHAPE()), cov, LB_SHAPE(), LB_F32), "random_multivariate_normal ()");
	FAILS_AT_ONCE(NORMALS(mean, of(LB_C64, LB_SHAPE(3, 3)), LB_SHAPE(), LB_F32),
		      "random_multivariate_normal complex64");
	FAILS_AT_ONCE(NORMALS(x23(), cov, LB_SHAPE(5), LB_F32), "random_multivariate_normal (2) (5)");
	FAILS_AT_ONCE(NORMALS(mean, cov, LB_SHAPE(), LB_I32), "random_multivariate_normal int32");
	FAILS_AT_ONCE(NORMALS(mean, cov, LB_SHAPE(-1), LB_F32), "random_multivariate_normal -1");
	FAILS_AT_ONCE(NORMALS(mean, cov, LB_SHAPE(1, 1, 1, 1, 1, 1, 1, 1), LB_F32), "random_multivariate_normal 8");
#undef NORMALS
	FAILS_AT_ONCE(lb_random_permutation(-1, lb_key(1)), "random_permutation -1");
}

static void first_error_and_its_site(void **state)
{
	(void)state;
	extern char __executable_start[], etext[];
	uint64_t errors = counters()->errors;
	LB_SCOPE {
		assert_null(lb_add(x23(), x45()));
		assert_null(lb_reshape(x23(), LB_SHAPE(4)));
		const char *site = lb_error_site();
		assert_true(site >= __executable_start && site < etext);
		assert_true(counters()->errors > errors);
		assert_true(error_has("add (2,3) (4,5)"));
		assert_null(lb_reshape(x23(), LB_SHAPE(4)));
		assert_true(error_has("reshape (2,3)"));
	}
}

/* Views may be larger than any memory; what would need the memory says so. */
static void too_large(void **state)
{
	(void)state;
	const int64_t n = INT64_C(1) << 42;
	LB_SCOPE {
		lb_tensor *x = lb_broadcast_to(lb_full(LB_SHAPE(1), 1, LB_F32), LB_SHAPE(n));
		lb_tensor *eighth = of(LB_F32, LB_SHAPE(1, 1, 1, 1, 1, 1, 1, 1)), *pair[2] = { x, x };
		lb_tensor *vast = lb_broadcast_to(of(LB_U8, LB_SHAPE(1)), LB_SHAPE(n, 1 << 20));
		lb_tensor *columns = lb_transpose(vast, LB_ALL_AXES), *two[2] = { columns, columns };
		FAILS(lb_contiguous(x), "memory");
		FAILS(lb_add(x, lb_scalar(1)), "memory");
		FAILS(lb_sum(lb_exp(x), LB_ALL_AXES, false), "memory");
		FAILS(lb_concatenate(2, pair, 0), "memory");
		FAILS(lb_zeros(LB_SHAPE(n), LB_F64), "memory");
		FAILS(lb_arange(0, 0x1p45, 1, LB_F64), "memory");
		FAILS(lb_random_normal(LB_SHAPE(n), LB_F32, lb_key(1)), "memory");
		FAILS(lb_matmul(lb_broadcast_to(x23(), LB_SHAPE(n, 2, 3)), of(LB_F32, LB_SHAPE(3, 2))), "memory");
		lb_tensor *ten = lb_take(x, lb_arange(0, 10, 1, LB_I32), 0);
		assert_int_equal(lb_item_int(lb_sum(ten, LB_ALL_AXES, false)), 10);
		assert_null(lb_data(lb_slice(x, LB_RANGE(0, LB_END, 2))));
		assert_true(error_has("memory"));
		FAILS_AT_ONCE(lb_argmax(x, LB_ALL_AXES, false), "argmax");
		FAILS_AT_ONCE(lb_astype(vast, LB_C64), "astype");
		FAILS_AT_ONCE(lb_add(vast, lb_full(LB_SHAPE(), 1, LB_F64)), "");
		FAILS_AT_ONCE(lb_stack(1, &eighth, 0), "stack 8");
		FAILS_AT_ONCE(lb_concatenate(2, two, 1), "concatenate");
		assert_int_equal(lb_item_int(lb_slice(vast, LB_AT(-1), LB_AT(-1))), 1);
		lb_tensor *end = lb_slice(x, LB_RANGE(n - 9, n));
		assert_int_equal(lb_item_int(lb_sum(end, LB_ALL_AXES, false)), 9);
	}
}

/* Any dtype anywhere: a result that evaluates, or an error that names the operation. */
static void evaluate_or_explain(lb_tensor *y, const char *op)
{
	if (y && lb_ok())
		lb_eval(y);
	if (!lb_ok())
		assert_true(error_has(op));
}

static void every_dtype(void **state)
{
	(void)state;
	lb_list shapes[] = { LB_SHAPE(), LB_SHAPE(0), LB_SHAPE(3, 2) };
	for (int d = 0; d < LB_DTYPES; d++) {
		for (int s = 0; s < COUNT(shapes); s++)
			LB_SCOPE {
				lb_tensor *x = lb_full(shapes[s], 1, (lb_dtype)d);
				for (int i = 0; i < COUNT(unaries); i++)
					evaluate_or_explain(unaries[i].run(x), unaries[i].name);
				for (int i = 0; i < COUNT(reductions); i++)
					evaluate_or_explain(reductions[i].run(x, LB_ALL_AXES, true),
							    reductions[i].name);
				evaluate_or_explain(lb_var(x, LB_ALL_AXES, true, 0), "var");
				evaluate_or_explain(lb_softmax(x, LB_ALL_AXES), "softmax");
				evaluate_or_explain(lb_clip(x, NULL, x), "clip");
			}
		for (int e = 0; e < LB_DTYPES; e++)
			LB_SCOPE {
				lb_tensor *a = lb_ones(LB_SHAPE(2, 2), (lb_dtype)d);
				lb_tensor *b = lb_ones(LB_SHAPE(2, 2), (lb_dtype)e);
				for (int i = 0; i < COUNT(binaries); i++)
					evaluate_or_explain(binaries[i].run(a, b), binaries[i].name);
				evaluate_or_explain(lb_matmul(a, b), "matmul");
				evaluate_or_explain(lb_where(a, b, a), "where");
				evaluate_or_explain(lb_take(a, lb_subtract(b, b), 0), "");
			}
	}
}

/* A handle whose tensor is gone is told so, by id and operation, and nothing waits for it. */
static void dead_handles(void **state)
{
	(void)state;
	lb_tensor *dead = NULL, *kept = NULL;
	LB_SCOPE
		dead = lb_exp(x23());
	char words[64];
	snprintf(words, sizeof words, "#%llu exp lb_keep", (unsigned long long)lb_id(dead));
	assert_false(lb_eval(dead));
	assert_true(error_has(words));
	assert_false(lb_async_eval(dead));
	assert_true(error_has(words));
	assert_null(lb_keep(dead));
	assert_true(error_has(words));
	lb_release(dead);
	assert_true(error_has(words));
	assert_true(isnan(lb_item(dead)) || lb_size(dead) == 0);
	lb_clear_error();

	LB_SCOPE
		kept = lb_keep(x23());
	lb_release(kept);
	lb_release(kept);
	assert_true(error_has("release"));
}

/* Integer powers end, whatever the exponent. */
static void negative_integer_power(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *two = lb_full(LB_SHAPE(3), 2, LB_I32);
		evaluate_or_explain(lb_power(two, lb_full(LB_SHAPE(3), -1, LB_I32)), "power");
		lb_tensor *z = lb_remainder(lb_full(LB_SHAPE(1), INT32_MIN, LB_I32), lb_full(LB_SHAPE(1), -1, LB_I32));
		assert_int_equal(lb_item_int(z), 0);
	}
}

/* What failed is told beside the text, and belongs to the message that is kept. */
static void causes(void **state)
{
	(void)state;
	assert_int_equal(lb_error_cause(), LB_OTHER_CAUSE);
	lb_fail("%s: interrupted", "a file");
	assert_int_equal(lb_error_cause(), LB_OTHER_CAUSE);
	lb_fail_because(LB_INTERRUPTED, "interrupted");
	assert_int_equal(lb_error_cause(), LB_OTHER_CAUSE);
	lb_clear_error();
	lb_fail_because(LB_MISUSED, "no option '%s'", "x");
	assert_int_equal(lb_error_cause(), LB_MISUSED);
	lb_clear_error(); /* whoever recovers: what fails next is no misuse */
	lb_fail("gone");
	assert_int_equal(lb_error_cause(), LB_OTHER_CAUSE);
	lb_clear_error();
	lb_fail_because(LB_TOO_LARGE, "more than %d", 5);
	lb_fail_within("a graph");
	lb_fail("another");
	assert_string_equal(lb_error_message(), "a graph: more than 5");
	assert_int_equal(lb_error_cause(), LB_TOO_LARGE);
	lb_clear_error();
	assert_int_equal(lb_error_cause(), LB_OTHER_CAUSE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(elementwise_shapes),
		TEST(weak_scalars_out_of_range),
		TEST(products),
		TEST(views),
		TEST(slices),
		TEST(reduced_axes),
		TEST(joins),
		TEST(gathers),
		TEST(creation),
		TEST(values),
		TEST(failed_inputs),
		TEST(composed),
		TEST(first_error_and_its_site),
		TEST(too_large),
		TEST(every_dtype),
		TEST(dead_handles),
		TEST(negative_integer_power),
		TEST(causes),
	};
	return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
