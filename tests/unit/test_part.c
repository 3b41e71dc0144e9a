/* Replays of slices, of graphs made at random and of each operation that is computed in part, against
 * the same elements of what the process itself computes, bit for bit; and giants, of which a slice
 * costs what the slice costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/sanitizer.h"
#include "graph/tensor.h"
#include "inspect/replay/region.h"
#include "inspect/replay/replay.h"
#include "lazybones.h"
#include "self.h"

static uint64_t seed = 1;

static int64_t pick(int64_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int64_t)((seed >> 33) % (uint64_t)n);
}

static bool replay(const lb_tensor *x, const char *slice_text, struct lbx_replayed *ret)
{
	struct lbx_tensor t;
	struct lbx_slice slice;

	return look(x, &t) && lbx_slice_parse(slice_text, &slice) && lbx_replay(&self->context, &t, &slice, ret);
}

/* ---- slices at random ---- */

static void make_slice(const lb_tensor *x, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "[");

	for (int i = 0; i < lb_rank(x); i++) {
		int64_t n = lb_shape(x)[i], a = pick(n), b = a + 1 + pick(n - a), step = 1 + pick(3);
		const char *comma = i ? ", " : "";
		switch (pick(5)) {
		case 0: used += (size_t)snprintf(text + used, size - used, "%s%lld", comma, (long long)a); break;
		case 1: used += (size_t)snprintf(text + used, size - used, "%s:", comma); break;
		case 2:
			used += (size_t)snprintf(text + used, size - used, "%s%lld:%lld:%lld", comma, (long long)a,
						 (long long)b, (long long)step);
			break;
		case 3:
			used += (size_t)snprintf(text + used, size - used, "%s%lld::-%lld", comma, (long long)a,
						 (long long)step);
			break;
		default:
			used += (size_t)snprintf(text + used, size - used, "%s%lld:%lld", comma, (long long)a,
						 (long long)b);
		}
	}
	if (pick(4) == 0)
		used += (size_t)snprintf(text + used, size - used, "%sNone", lb_rank(x) ? ", " : "");
	snprintf(text + used, size - used, "]");
	if (strcmp(text, "[]") == 0)
		*text = '\0';
}

enum { SLICES = LB_SANITIZED ? 1 : 3 };

/* Several slices first, while the tensor is lazy; then they are compared. */
static void same_parts(lb_tensor *x, const char *what)
{
	struct {
		char text[256];
		struct lbx_replayed replayed;
	} parts[SLICES];

	if (!x)
		fail_msg("%s: %s", what, lb_error_message());
	assert_false(lb_is_ready(x));
	for (int i = 0; i < SLICES; i++) {
		make_slice(x, parts[i].text, sizeof parts[i].text);
		if (!replay(x, parts[i].text, &parts[i].replayed))
			fail_msg("%s%s: %s", what, parts[i].text, lb_error_message());
	}
	assert_false(lb_is_ready(x));
	size_t n = (size_t)lb_nbytes(x);
	char *whole = malloc(n + 1);
	assert_true(lb_copy_out(x, whole, n));
	for (int i = 0; i < SLICES; i++) {
		int64_t strides[LB_MAX_RANK], stride = 1, width = lbx_dtype_bytes(lb_dtype_of(x));
		struct lbx_array a, *b = &parts[i].replayed.array;
		struct lbx_slice slice;
		for (int k = lb_rank(x); k-- > 0; stride *= lb_shape(x)[k])
			strides[k] = stride;
		assert_true(lbx_array_local(whole, (int64_t)n, lb_dtype_of(x), lb_rank(x), lb_shape(x), strides, 0,
					    &a));
		assert_true(lbx_slice_parse(parts[i].text, &slice) && lbx_slice_apply(&slice, &a));
		assert_int_equal(a.rank, b->rank);
		assert_memory_equal(a.shape, b->shape, (size_t)a.rank * sizeof *a.shape);
		char *expected = malloc((size_t)(a.size * width) + 1), *got = malloc((size_t)(a.size * width) + 1);
		assert_true(lbx_array_copy(&a, 0, a.size, expected) && lbx_array_copy(b, 0, b->size, got));
		if (memcmp(expected, got, (size_t)(a.size * width)))
			fail_msg("%s%s: other bits", what, parts[i].text);
		free(expected);
		free(got);
		lbx_replay_release(&parts[i].replayed);
	}
	free(whole);
}

#define SAME_PARTS(x) same_parts(x, #x)

/* ---- each operation ---- */

static lb_tensor *numbers(lb_list shape, lb_dtype dtype)
{
	return lb_astype(lb_random_uniform(shape, -9.5, 9.5, LB_F32, lb_key(7)), dtype);
}

static void creation(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		LB_SCOPE {
			SAME_PARTS(lb_full(LB_SHAPE(20, 30), 1.5, LB_BF16));
			SAME_PARTS(lb_arange(0.3, 100, 0.1, LB_F32));
			SAME_PARTS(lb_arange(-5, 1000, 3, LB_I32));
			SAME_PARTS(lb_reshape(lb_arange(0, 6e6, 0.1, LB_F32), LB_SHAPE(60, 10000, 100)));
			SAME_PARTS(lb_random_uniform(LB_SHAPE(40, 100, 300), -1, 1, LB_F32, lb_key(3)));
			SAME_PARTS(lb_eye(40, 50, -7, LB_I8));
			SAME_PARTS(lb_random_uniform(LB_SHAPE(5, 7, 11), -1, 1, LB_F16, lb_key(3)));
			SAME_PARTS(lb_random_uniform(LB_SHAPE(77, 3), -1, 1, LB_F64, lb_key(3)));
			SAME_PARTS(lb_random_normal(LB_SHAPE(9, 101), LB_F32, lb_key(4)));
			SAME_PARTS(lb_random_normal(LB_SHAPE(9, 31), LB_F64, lb_key(4)));
			SAME_PARTS(lb_random_normal(LB_SHAPE(9, 31), LB_C64, lb_key(4)));
		}
}

static void reductions(void **state)
{
	lb_tensor *(*const all[])(lb_tensor *, lb_list, bool) = {
		lb_sum, lb_mean, lb_max, lb_min, lb_prod, lb_all, lb_any, lb_logsumexp,
	};
	const lb_dtype dtypes[] = { LB_F32, LB_BF16, LB_I16, LB_F64 };

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		LB_SCOPE {
			lb_dtype dtype = dtypes[pick(4)];
			lb_tensor *x = numbers(LB_SHAPE(12, 5, 70), dtype),
				  *short_rows = numbers(LB_SHAPE(40, 9), dtype);
			SAME_PARTS(all[i](x, LB_AXES(2), i % 2));
			SAME_PARTS(all[i](x, LB_AXES(1, 2), i % 2));
			SAME_PARTS(all[i](x, LB_AXES(0), false));
			SAME_PARTS(all[i](short_rows, LB_AXES(1), true));
			SAME_PARTS(all[i](lb_transpose(x, LB_ALL_AXES), LB_AXES(0), false));
		}
	LB_SCOPE {
		lb_tensor *x = numbers(LB_SHAPE(30, 4, 66), LB_F32);
		SAME_PARTS(lb_var(x, LB_AXES(2), true, 1));
		SAME_PARTS(lb_argmax(x, LB_AXES(0), true));
		SAME_PARTS(lb_argmin(x, LB_AXES(2), false));
		SAME_PARTS(lb_softmax(x, LB_AXES(-1)));
		SAME_PARTS(lb_softmax(numbers(LB_SHAPE(30, 5), LB_F16), LB_AXES(-1)));
		SAME_PARTS(lb_softmax(x, LB_AXES(1)));
		SAME_PARTS(lb_softmax(lb_transpose(x, LB_ALL_AXES), LB_AXES(2)));
		SAME_PARTS(lb_sum(lb_slice(x, LB_RANGE(3, 20), LB_AT(2)), LB_AXES(1), false));
	}
}

static void rows_and_lines(void **state)
{
	const lb_dtype dtypes[] = { LB_F32, LB_BF16, LB_F64 };

	(void)state;
	for (int i = 0; i < 3; i++)
		LB_SCOPE {
			lb_tensor *x = numbers(LB_SHAPE(6, 7, 40), dtypes[i]), *w = numbers(LB_SHAPE(40), dtypes[i]);
			SAME_PARTS(lb_layer_norm(x, w, NULL, 1e-5));
			SAME_PARTS(lb_layer_norm(x, w, w, 1e-5));
			SAME_PARTS(lb_rms_norm(lb_transpose(x, LB_AXES(1, 0, 2)), w, 1e-5));
			SAME_PARTS(lb_sort(x, 1));
			SAME_PARTS(lb_argsort(x, -1));
			SAME_PARTS(lb_topk(x, 2, 2));
			SAME_PARTS(lb_cumsum(x, i, true, false));
			SAME_PARTS(lb_scan(x, LB_SCAN_MAX, i, false, true));
			SAME_PARTS(lb_scan(x, LB_SCAN_LOGADDEXP, i, true, i > 0));
			SAME_PARTS(lb_partition(x, 2, 1));
			SAME_PARTS(lb_argpartition(x, 7, -1));
			SAME_PARTS(lb_bitcast(x, LB_U16));
			SAME_PARTS(lb_searchsorted(lb_sort(w, 0), x, i == 1));
			SAME_PARTS(lb_from_fp8(lb_to_fp8(lb_exp(x)), dtypes[i]));
			SAME_PARTS(lb_rope(x, 6, true, 10000, 1, 5));
			SAME_PARTS(lb_rope(x, 40, false, 500000, 0.5, -1));
			lb_tensor *parts[] = { x, lb_slice(x, LB_RANGE(1, 3)), x };
			SAME_PARTS(lb_concatenate(3, parts, 0));
			parts[1] = lb_exp(x);
			SAME_PARTS(lb_concatenate(3, parts, 2));
			SAME_PARTS(lb_stack(3, parts, 1));
			SAME_PARTS(lb_pad(x, LB_SHAPE(0, 1, 2), LB_SHAPE(3, 0, 1), 2.5));
			SAME_PARTS(lb_pad(lb_exp(x), LB_SHAPE(60, 0, 0), LB_SHAPE(0, 0, 60), -1));
			SAME_PARTS(lb_exp(lb_reshape(lb_pad(x, LB_SHAPE(0, 90, 0), LB_SHAPE(0, 0, 0), 2),
						     LB_SHAPE(-1, 40))));
			lb_tensor *none = lb_slice(lb_exp(x), LB_RANGE(0, 0));
			SAME_PARTS(lb_pad(none, LB_SHAPE(2, 0, 0), LB_SHAPE(1, 0, 3), 4));
			SAME_PARTS(lb_sum(none, LB_AXES(0), false));
			SAME_PARTS(lb_prod(none, LB_AXES(0, 1), true));
			SAME_PARTS(lb_concatenate(3, (lb_tensor *[]){ none, lb_exp(x), none }, 0));
			lb_tensor *indices = lb_from_data((int64_t[]){ 3, 0, -1, 2, 2, 5 }, 48, LB_SHAPE(2, 3), LB_I64);
			SAME_PARTS(lb_take(x, indices, 0));
			SAME_PARTS(lb_take(x, indices, 1));
			SAME_PARTS(lb_take(x, lb_abs(indices), 2));
			SAME_PARTS(lb_take_along_axis(x, lb_argsort(x, 1), 1));
			SAME_PARTS(lb_take_along_axis(x, lb_argmax(x, LB_AXES(2), true), 2));
		}
}

static void quantised(void **state)
{
	const lb_quant formats[] = {
		{ .mode = LB_QUANT_AFFINE, .bits = 3, .group = 32 },
		{ .mode = LB_QUANT_MXFP4 },
		{ .mode = LB_QUANT_NVFP4 },
	};

	(void)state;
	for (int i = 0; i < 3; i++)
		LB_SCOPE {
			lb_tensor *w = numbers(LB_SHAPE(5, 12, 128), LB_BF16);
			lb_tensor *scale = i == 2 ? lb_max(w, LB_ALL_AXES, false) : NULL;
			lb_quantized q = lb_quantize(w, formats[i], i == 2 ? lb_astype(scale, LB_F32) : NULL);
			SAME_PARTS(lb_dequantize(q, formats[i], LB_F16));
			q = lb_quantize(w, formats[i], i == 2 ? lb_astype(scale, LB_F32) : NULL);
			SAME_PARTS(q.w);
		}
	LB_SCOPE {
		lb_tensor *bytes = numbers(LB_SHAPE(6, 2 * 144), LB_U8);
		SAME_PARTS(lb_decode(bytes, LB_Q4_K, LB_SHAPE(6, 512), LB_F32));
		SAME_PARTS(lb_decode(bytes, LB_BIG_ENDIAN, LB_SHAPE(6, 144), LB_I16));
	}
}

/* Operations that keep their inputs whole, above and below those that do not. */
static void whole(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		LB_SCOPE {
			lb_tensor *x = numbers(LB_SHAPE(3, 20, 24), LB_F32);
			lb_tensor *y = lb_slice(lb_transpose(lb_exp(x), LB_AXES(0, 2, 1)), LB_ALL, LB_RANGE(2, 9));
			SAME_PARTS(lb_add(lb_matmul(y, x), lb_scalar(1)));
			SAME_PARTS(lb_slice_update(x, lb_scalar_int(2), LB_REST, LB_REVERSED));
			lb_tensor *q = numbers(LB_SHAPE(1, 4, 3, 8), LB_F32),
				  *k = numbers(LB_SHAPE(1, 2, 5, 8), LB_F32);
			SAME_PARTS(lb_transpose(lb_attention(q, k, k, 0.3, false, NULL), LB_AXES(0, 2, 1, 3)));
			SAME_PARTS(lb_categorical(x, -1, lb_key(9)));
			lb_tensor *half = lb_astype(x, LB_BF16), *other = lb_astype(y, LB_BF16);
			SAME_PARTS(lb_matmul_in_steps(other, half));
			lb_tensor *kept = lb_less(numbers(LB_SHAPE(3, 3), LB_F32), lb_scalar(0));
			SAME_PARTS(lb_block_masked_mm(x, lb_swapaxes(x, -1, -2), 8, NULL, kept, NULL));
			SAME_PARTS(
			    lb_segmented_mm(lb_slice(x, LB_AT(0)), lb_transpose(lb_slice(x, LB_AT(1)), LB_ALL_AXES),
					    lb_from_data((int32_t[]){ 0, 5, 7, 24 }, 16, LB_SHAPE(2, 2), LB_I32)));
			lb_tensor *diagonal = lb_multiply(lb_eye(20, 20, 0, LB_F32), lb_scalar(99));
			lb_tensor *far = lb_add(lb_slice(x, LB_REST, LB_TO(20)), diagonal);
			lb_tensor *u, *s, *vt;
			assert_true(lb_svd(far, &u, &s, &vt));
			SAME_PARTS(lb_inv(far));
			SAME_PARTS(lb_solve(far, x));
			SAME_PARTS(lb_rfft(x, 0, 1, LB_FFT_BACKWARD));
			SAME_PARTS(vt);
			lb_tensor *keys = lb_astype(numbers(LB_SHAPE(3, 2), LB_I32), LB_U32);
			SAME_PARTS(lb_random_bits(keys, LB_SHAPE(5, 7), LB_U16));
		}
}

static void views(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++)
		LB_SCOPE {
			lb_tensor *x =
			    i % 2 ? lb_exp(numbers(LB_SHAPE(6, 10, 8), LB_F32))
				  : lb_slice(numbers(LB_SHAPE(6, 20, 8), LB_F32), LB_RANGE(0, 6), LB_RANGE(0, 20, 2));
			if (i > 3)
				assert_true(lb_eval(x));
			lb_tensor *wide = numbers(LB_SHAPE(30, 40, 50), LB_F32);
			wide =
			    i % 3 ? lb_transpose(wide, LB_AXES(2, 0, 1)) : lb_slice(wide, LB_RANGE(3, 30), LB_REVERSED);
			assert_true(lb_eval(wide));
			SAME_PARTS(lb_negative(wide));
			SAME_PARTS(lb_slice(wide, LB_ALL, LB_RANGE(1, 20), LB_REVERSED));
			SAME_PARTS(lb_sum(lb_slice(wide, LB_ALL, LB_RANGE(2, 9)), LB_AXES(1), false));
			SAME_PARTS(lb_matmul(lb_slice(wide, LB_RANGE(3, 5)),
					     lb_ones(LB_SHAPE(lb_dim(wide, 2), 3), LB_F32)));
			SAME_PARTS(lb_transpose(lb_reshape(x, LB_SHAPE(6, 10, 2, 4)), LB_AXES(0, 2, 1, 3)));
			SAME_PARTS(lb_reshape(x, LB_SHAPE(60, 8)));
			SAME_PARTS(lb_reshape(x, LB_SHAPE(480)));
			SAME_PARTS(lb_reshape(x, LB_SHAPE(4, 15, 8)));
			SAME_PARTS(lb_reshape(lb_transpose(x, LB_ALL_AXES), LB_SHAPE(16, 30)));
			SAME_PARTS(lb_slice(x, LB_REVERSED, LB_RANGE(9, 1, -3), LB_ALL));
			SAME_PARTS(lb_broadcast_to(lb_slice(x, LB_ALL, LB_RANGE(1, 2)), LB_SHAPE(3, 6, 4, 8)));
			SAME_PARTS(lb_as_strided(lb_exp(x), LB_SHAPE(3, 5, 7), LB_STRIDES(1, 9, 13), 4));
			SAME_PARTS(lb_depends(lb_negative(x), 1, &x));
			SAME_PARTS(lb_add(lb_slice(x, LB_RANGE(0, 3)), lb_slice(x, LB_RANGE(3, 6))));
		}
}

/* ---- graphs at random ---- */

enum { POOL = 9 };

static lb_tensor *grow_one(lb_tensor *const *pool, int n)
{
	lb_tensor *x = pool[pick(n)], *y = pool[pick(n)];
	int rank = lb_rank(x), axis = (int)pick(rank);
	const int64_t *shape = lb_shape(x);
	int64_t to[LB_MAX_RANK] = { 0 };

	switch (pick(14)) {
	case 0: return lb_exp(lb_multiply(x, lb_scalar(0.1)));
	case 1: return lb_transpose(x, LB_ALL_AXES);
	case 2: return lb_flatten(x, 0, -1);
	case 3: return lb_reshape(x, LB_SHAPE(-1, shape[rank - 1]));
	case 4:
		return rank > 1 ? lb_slice(x, LB_RANGE(shape[0] / 3, shape[0]), LB_REVERSED)
				: lb_slice(x, LB_RANGE(0, shape[0], 2));
	case 5: return lb_astype(x, pick(2) ? LB_F16 : LB_F32);
	case 6: return lb_concatenate(2, (lb_tensor *[]){ x, x }, axis);
	case 7: return rank > 1 ? lb_max(x, LB_AXES(axis), pick(2)) : lb_negative(x);
	case 8: return lb_softmax(x, LB_AXES(axis));
	case 9: return lb_sort(x, axis);
	case 10: return lb_add(x, lb_slice(x, LB_RANGE(0, 1)));
	case 11: return lb_contiguous(lb_transpose(x, LB_ALL_AXES));
	case 12:
		if (rank > 4)
			return lb_abs(x);
		to[0] = 2;
		memcpy(to + 1, shape, (size_t)rank * sizeof *to);
		return lb_broadcast_to(x, (lb_list){ rank + 1, to });
	default:
		if (lb_rank(y) == rank && memcmp(lb_shape(y), shape, (size_t)rank * sizeof *shape) == 0)
			return lb_maximum(x, y);
		return lb_rms_norm(x, NULL, 1e-5);
	}
}

static void at_random(void **state)
{
	enum { GRAPHS = LB_SANITIZED ? 15 : 120, MOST = 60000 };

	(void)state;
	for (int i = 0; i < GRAPHS; i++)
		LB_SCOPE {
			lb_tensor *pool[POOL] = { numbers(LB_SHAPE(4, 9, 70), LB_F32) };
			if (i % 3)
				assert_true(lb_eval(pool[0]));
			for (int k = 1; k < POOL; k++) {
				pool[k] = grow_one(pool, k);
				if (!pool[k])
					fail_msg("graph %d: %s", i, lb_error_message());
				if (lb_size(pool[k]) > MOST || lb_rank(pool[k]) > 6)
					pool[k] = pool[0];
			}
			char what[32];
			snprintf(what, sizeof what, "graph %d", i);
			same_parts(lb_sqrt(lb_abs(pool[POOL - 1])), what);
		}
}

/* ---- giants ---- */

/* The setting allows hardly more than the slice. */
static void costs_the_slice(lb_tensor *x, const char *slice, int64_t size)
{
	struct lbx_replayed replayed;

	assert_non_null(x);
	self->settings.replay_memory = 1 << 20;
	if (!replay(x, slice, &replayed))
		fail_msg("%s: %s", slice, lb_error_message());
	assert_int_equal(replayed.array.size, size);
	lbx_replay_release(&replayed);
	self->settings.replay_memory = lbx_default_settings.replay_memory;
}

static void giants(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_list shape = LB_SHAPE(40000, 1000, 1000);
		lb_tensor *x = lb_random_normal(shape, LB_F32, lb_key(1));
		lb_tensor *row = lb_reshape(lb_arange(0, 1e12, 1, LB_F64), LB_SHAPE(1000000, 1000, 1000));
		costs_the_slice(x, "[0, 0, :3]", 3);
		costs_the_slice(x, "[-1, 5, ::100]", 10);
		costs_the_slice(row, "[3, ::-1, 7]", 1000);
		costs_the_slice(row, "[::-9999, 5, 7]", 101);
		costs_the_slice(x, "[::4000, ::100, 7]", 100);
		costs_the_slice(lb_exp(lb_add(x, lb_ones(LB_SHAPE(1000), LB_F32))), "[17, :2, :3]", 6);
		costs_the_slice(lb_transpose(lb_sqrt(x), LB_AXES(2, 0, 1)), "[:3, 39999, :]", 3000);
		costs_the_slice(lb_mean(lb_square(x), LB_AXES(2), false), "[5, 3:9]", 6);
		costs_the_slice(lb_softmax(x, LB_AXES(-1)), "[5, 3:9, 0]", 6);
		costs_the_slice(lb_rms_norm(x, NULL, 1e-5), "[5, 3:9, 0]", 6);
		costs_the_slice(lb_reshape(x, LB_SHAPE(40000000, 1000)), "[4321:4329, 0]", 8);
		costs_the_slice(lb_concatenate(2, (lb_tensor *[]){ x, x }, 0), "[39999:40001, 0, 0]", 2);
		costs_the_slice(lb_slice(x, LB_AT(5), LB_AT(7)), "", 1000);
		costs_the_slice(x, "[:4000, 0, 0]", 4000);
		lb_tensor *padded = lb_pad(lb_sqrt(x), LB_SHAPE(2, 0, 3), LB_SHAPE(0, 1, 0), 2.5);
		costs_the_slice(padded, "[5, 3, 0:3]", 3);
		costs_the_slice(lb_exp(lb_transpose(padded, LB_ALL_AXES)), "[0:3, 3, ::100]", 1203);
		costs_the_slice(padded, "[1:3, 3, :5]", 10);
		lb_tensor *none = lb_slice(x, LB_RANGE(0, 0));
		costs_the_slice(lb_concatenate(3, (lb_tensor *[]){ none, x, none }, 0), "[3, 4, :5]", 5);
		costs_the_slice(lb_sum(none, LB_AXES(0), false), "[3:5, 7]", 2);
		costs_the_slice(lb_sum(lb_exp(lb_zeros(LB_SHAPE(40000, 0, 1000000), LB_F32)), LB_AXES(1), true),
				"[5, 0, :9]", 9);
		lb_tensor *y = lb_random_normal(shape, LB_F32, lb_key(2));
		lb_tensor *rows = lb_slice(x, LB_AT(5), LB_RANGE(0, 4)),
			  *others = lb_slice(y, LB_AT(6), LB_RANGE(0, 9));
		costs_the_slice(lb_matmul(rows, lb_transpose(others, LB_ALL_AXES)), "", 36);
	}
}

/* What is known to be too much is refused before anything is read or started. */
static void refused_at_once(void **state)
{
	struct lbx_replayed replayed;
	char expected[256];

	(void)state;
	setenv("LAZYBONES_REPLAY", "/nonexistent", 1);
	LB_SCOPE {
		lb_tensor *x = lb_named("giant", lb_random_normal(LB_SHAPE(700, 1000, 1000), LB_F32, lb_key(1)));
		lb_tensor *y = lb_sum(lb_transpose(lb_add(x, lb_scalar(1)), LB_ALL_AXES), LB_ALL_AXES, false);
		self->settings.replay_memory = 1LL << 30;
		assert_false(replay(x, "", &replayed));
		snprintf(
		    expected, sizeof expected,
		    "to compute giant (#%llu, float32 (700, 1000, 1000), lazy) takes 2.6 GiB, more than the 1.0 GiB "
		    "that a replay may use; raise the setting replay-memory, or ask for a part",
		    (unsigned long long)x->id);
		assert_string_equal(lb_error_message(), expected);
		lb_clear_error();
		assert_false(replay(y, "", &replayed));
		assert_non_null(strstr(lb_error_message(), "takes 2.6 GiB"));
		lb_clear_error();
		/* the other way round: nothing stands in the way but the program that is not there */
		assert_false(replay(x, "[0, 0]", &replayed));
		assert_string_equal(lb_error_message(), "LAZYBONES_REPLAY=/nonexistent cannot be run");
		lb_clear_error();
		assert_false(replay(x, "[700]", &replayed));
		assert_string_equal(lb_error_message(), "index 700 is out of range for axis 0 with size 700");
		lb_clear_error();
		/* no elements: nothing to compute */
		assert_true(replay(x, "[0, 5:3]", &replayed));
		assert_int_equal(replayed.array.size, 0);
		self->settings.replay_memory = lbx_default_settings.replay_memory;
	}
	unsetenv("LAZYBONES_REPLAY");
}

/* Of what is ready, only what the slice needs is read. */
static void reads_the_slice(void **state)
{
	struct lbx_replayed replayed;

	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_ones(LB_SHAPE(512, 1024), LB_F32);
		assert_true(lb_eval(x));
		lb_tensor *y = lb_negative(x);
		assert_true(replay(y, "[3]", &replayed));
		assert_int_equal(replayed.leaf_bytes, 4096);
		lbx_replay_release(&replayed);
		if (!replay(y, "[:, 3]", &replayed))
			fail_msg("%s", lb_error_message());
		assert_int_equal(replayed.leaf_bytes, 2048);
		lbx_replay_release(&replayed);
		assert_true(replay(lb_matmul(y, lb_transpose(y, LB_ALL_AXES)), "[0, 0]", &replayed));
		assert_int_equal(replayed.leaf_bytes, 512 * 4096);
		lbx_replay_release(&replayed);
	}
}

int main(void)
{
#define IN_SELF(f) cmocka_unit_test_setup_teardown(f, open_self, close_self)
	static const struct CMUnitTest tests[] = {
		IN_SELF(creation),        IN_SELF(reductions),      IN_SELF(rows_and_lines), IN_SELF(quantised),
		IN_SELF(whole),           IN_SELF(views),           IN_SELF(at_random),      IN_SELF(giants),
		IN_SELF(refused_at_once), IN_SELF(reads_the_slice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
