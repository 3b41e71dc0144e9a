/* Quantisation beyond single values (test_ops has those): what a round trip loses, what a product
 * needs of memory, and what is said of tensors that do not fit together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe.h"

static const lb_quant affine4 = { .mode = LB_QUANT_AFFINE, .bits = 4, .group = 64 },
		      mxfp4 = { .mode = LB_QUANT_MXFP4, .bits = 4, .group = 32 },
		      mxfp8 = { .mode = LB_QUANT_MXFP8, .bits = 8, .group = 32 },
		      nvfp4 = { .mode = LB_QUANT_NVFP4, .bits = 4, .group = 16 };

static lb_tensor *normal(lb_list shape, lb_dtype dtype)
{
	return lb_astype(lb_random_normal(shape, LB_F32, lb_key(11)), dtype);
}

static double largest(lb_tensor *x)
{
	return lb_item(lb_max(lb_astype(lb_abs(x), LB_F32), LB_ALL_AXES, false));
}

/* ---- round trips ---- */

/* |x - dequantize(quantize(x))| over `bound`, group by group. */
static void within(lb_tensor *x, lb_tensor *back, lb_tensor *bound, int group)
{
	LB_SCOPE {
		lb_tensor *error = lb_abs(lb_subtract(lb_astype(x, LB_F32), lb_astype(back, LB_F32)));
		error = lb_max(lb_reshape(error, LB_SHAPE(-1, group)), LB_AXES(1), false);
		lb_tensor *over = lb_max(lb_subtract(error, lb_reshape(bound, LB_SHAPE(-1))), LB_ALL_AXES, false);
		assert_true(lb_item(over) <= 0);
		assert_true(lb_ok());
	}
}

static lb_tensor *group_largest(lb_tensor *x, int group)
{
	lb_tensor *groups = lb_reshape(lb_abs(lb_astype(x, LB_F32)), LB_SHAPE(-1, group));
	return lb_max(groups, LB_AXES(1), false);
}

static lb_tensor *group_range(lb_tensor *x, int group)
{
	lb_tensor *groups = lb_reshape(lb_astype(x, LB_F32), LB_SHAPE(-1, group));
	return lb_subtract(lb_max(groups, LB_AXES(1), false), lb_min(groups, LB_AXES(1), false));
}

/* Half a step, or a whole one where the scale was adjusted so that an end is exact and the other
 * saturates; and what storing scale, bias and result in the dtype rounds. */
static void affine_error(void **state)
{
	(void)state;
	const int bits[] = { 2, 3, 4, 5, 6, 8 }, groups[] = { 32, 64, 128 };
	const struct {
		lb_dtype dtype;
		double rounding;
	} dtypes[] = {
		{ LB_F32, 0x1p-22 },
		{ LB_F16, 0x1p-9 },
		{ LB_BF16, 0x1p-6 },
	};
	for (int b = 0; b < 6; b++)
		for (int g = 0; g < 3; g++)
			for (int d = 0; d < 3; d++)
				LB_SCOPE {
					lb_quant how = { .mode = LB_QUANT_AFFINE, .bits = bits[b], .group = groups[g] };
					lb_tensor *x = normal(LB_SHAPE(64, 512), dtypes[d].dtype);
					lb_tensor *back =
					    lb_dequantize(lb_quantize(x, how, NULL), how, dtypes[d].dtype);
					double step = 1.0 / ((1 << bits[b]) - 1);
					lb_tensor *bound = lb_multiply(group_range(x, groups[g]), lb_scalar(step));
					lb_tensor *rounding =
					    lb_multiply(group_largest(x, groups[g]), lb_scalar(4 * dtypes[d].rounding));
					within(x, back, lb_add(bound, rounding), groups[g]);
				}
}

/* A scale's power of two is off by at most sqrt(2): the widest gap of e2m1 is 2 around 5, of
 * e4m3 32 around 432; beyond the largest value they saturate. Relative to the group's largest. */
static void float_error(void **state)
{
	(void)state;
	const struct {
		lb_quant how;
		double relative;
	} cases[] = {
		{ mxfp4, 0.2930 },
		{ mxfp8, 0.2930 },
		{ nvfp4, 0.1779 },
	};
	for (int i = 0; i < 3; i++)
		LB_SCOPE {
			lb_tensor *x = normal(LB_SHAPE(64, 512), LB_F32);
			lb_tensor *back = lb_dequantize(lb_quantize(x, cases[i].how, NULL), cases[i].how, LB_F32);
			int group = cases[i].how.group;
			within(x, back, lb_multiply(group_largest(x, group), lb_scalar(cases[i].relative)), group);
		}
}

/* What a format can hold comes back as it was, and quantising again changes nothing. */
static void exact_values(void **state)
{
	(void)state;
	const lb_quant formats[] = {
		affine4, mxfp4, mxfp8, nvfp4, { .mode = LB_QUANT_AFFINE, .bits = 8, .group = 32 }
	};
	for (int i = 0; i < 5; i++)
		LB_SCOPE {
			lb_tensor *zeros = lb_zeros(LB_SHAPE(3, 128), LB_BF16);
			lb_quantized q = lb_quantize(zeros, formats[i], NULL);
			assert_true(largest(lb_dequantize(q, formats[i], LB_F32)) == 0);
		}
	LB_SCOPE {
		const float values[] = { 0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.5f, -1, -1.5f, -2, -3, -4, -6, 0 };
		lb_tensor *x = lb_from_data(values, sizeof values, LB_SHAPE(1, 16), LB_F32);
		lb_tensor *back = lb_dequantize(lb_quantize(x, nvfp4, NULL), nvfp4, LB_F32);
		assert_true(largest(lb_subtract(x, back)) == 0);
		x = lb_concatenate(2, (lb_tensor *[]){ x, lb_multiply(x, lb_scalar(0.5)) }, 1);
		back = lb_dequantize(lb_quantize(x, mxfp4, NULL), mxfp4, LB_F32);
		lb_tensor *again = lb_dequantize(lb_quantize(back, mxfp4, NULL), mxfp4, LB_F32);
		assert_true(largest(lb_subtract(again, back)) == 0);
		assert_true(largest(lb_subtract(x, back)) <= 0.25);
	}
}

/* ---- products ---- */

/* Beyond its inputs, a product takes far less memory than the weight's floats. */
static void product_memory(void **state)
{
	(void)state;
	enum { N = 2048 };
	const int rows[] = { 1, 8, 64 };
	LB_SCOPE {
		lb_quantized q = lb_quantize(normal(LB_SHAPE(N, N), LB_BF16), affine4, NULL);
		assert_true(lb_eval(q.w, q.scales, q.biases));
		for (int i = 0; i < 3; i++)
			for (int transpose = 0; transpose < 2; transpose++) {
				lb_tensor *x = normal(LB_SHAPE(rows[i], N), LB_BF16);
				assert_true(lb_eval(x));
				uint64_t before = lb_active_memory();
				lb_reset_peak_memory();
				assert_true(lb_eval(lb_quantized_matmul(x, q, affine4, transpose)));
				assert_true(lb_peak_memory() - before < (uint64_t)N * N / 4);
			}
	}
}

/* The debugger's evaluation has no threads, no BLAS, and scratch memory of its own. */
static void evaluated_by_a_debugger(void **state)
{
	(void)state;
	const int rows[] = { 1, 3, 40 };
	for (int i = 0; i < 3; i++)
		for (int transpose = 0; transpose < 2; transpose++)
			LB_SCOPE {
				lb_tensor *x = normal(LB_SHAPE(rows[i], 128), LB_F32);
				lb_quantized q = lb_quantize(normal(LB_SHAPE(128, 128), LB_F32), mxfp8, NULL);
				lb_tensor *y = lb_quantized_matmul(x, q, mxfp8, transpose);
				lb_tensor *z = lb_quantized_matmul(x, q, mxfp8, transpose);
				const char *refusal = lb_debug_eval(lb_id(y));
				if (refusal)
					fail_msg("%s", refusal);
				assert_true(lb_is_ready(y));
				assert_true(largest(lb_subtract(y, z)) <= 1e-3);
			}
}

/* A view of more weights: rows apart, and columns that must be copied first. */
static void views_of_weights(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = normal(LB_SHAPE(3, 128), LB_F32);
		lb_quantized q = lb_quantize(normal(LB_SHAPE(10, 128), LB_F32), affine4, NULL), odd = {
			.w = lb_slice(q.w, LB_RANGE(1, 10, 2)),
			.scales = lb_slice(q.scales, LB_RANGE(1, 10, 2)),
			.biases = lb_slice(q.biases, LB_RANGE(1, 10, 2)),
		};
		lb_tensor *all = lb_quantized_matmul(x, q, affine4, true);
		lb_tensor *some = lb_quantized_matmul(x, odd, affine4, true);
		all = lb_slice(all, LB_ALL, LB_RANGE(1, 10, 2));
		assert_true(largest(lb_subtract(all, some)) == 0);
		assert_true(lb_ok());
	}
}

/* One matrix of codes under several scales, or biases. */
static void views_of_parts(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = normal(LB_SHAPE(3, 128), LB_F32);
		lb_quantized q = lb_quantize(normal(LB_SHAPE(10, 128), LB_F32), affine4, NULL);
		lb_tensor *words = lb_broadcast_to(q.w, LB_SHAPE(2, 10, 16));
		lb_tensor *scales = lb_stack(2, (lb_tensor *[]){ q.scales, lb_negative(q.scales) }, 0);
		lb_tensor *biases = lb_stack(2, (lb_tensor *[]){ q.biases, lb_abs(q.biases) }, 0);
		lb_quantized both[] = { { words, scales, lb_broadcast_to(q.biases, LB_SHAPE(2, 10, 2)), NULL },
					{ words, lb_broadcast_to(q.scales, LB_SHAPE(2, 10, 2)), biases, NULL } };
		for (int i = 0; i < 2; i++) {
			lb_tensor *y = lb_quantized_matmul(x, both[i], affine4, true);
			lb_tensor *w = lb_dequantize(both[i], affine4, LB_F32);
			assert_true(largest(lb_subtract(y, lb_matmul(x, lb_swapaxes(w, -1, -2)))) < 1e-3);
		}
		assert_true(lb_ok());
	}
}

/* Of each pair of indices what the product of that matrix with that one is: one by one, and many with the same. */
static void chosen(void **state)
{
	(void)state;
	const lb_quant formats[] = {
		affine4, { .mode = LB_QUANT_AFFINE, .bits = 3, .group = 32 }, mxfp4, mxfp8, nvfp4
	};
	const int rows[] = { 1, 3, 40, 600 };
	for (int f = 0; f < 5; f++)
		for (int i = 0; i < (is_instrumented() ? 2 : 4); i++)
			for (int transpose = 0; transpose < 2; transpose++)
				LB_SCOPE {
					enum { MATRICES = 6, N = 64, K = 128, COUNT = 90 };
					const lb_quant how = formats[f];
					lb_dtype dtype = i == 1 ? LB_BF16 : LB_F32;
					lb_tensor *x = normal(LB_SHAPE(2, 3, rows[i], transpose ? K : N), dtype);
					lb_tensor *global =
					    how.mode == LB_QUANT_NVFP4 ? lb_full(LB_SHAPE(), 5, LB_F32) : NULL;
					lb_quantized q = lb_quantize(normal(LB_SHAPE(3, 2, N, K), dtype), how, global);
					lb_tensor *dense =
					    lb_reshape(lb_dequantize(q, how, LB_F32), LB_SHAPE(MATRICES, N, K));
					lb_tensor *left = lb_random_randint(LB_SHAPE(COUNT, 1), -MATRICES, MATRICES,
									    LB_I32, lb_key(5));
					lb_tensor *right =
					    lb_random_randint(LB_SHAPE(2), 0, MATRICES, LB_U8, lb_key(6));
					dense = transpose ? lb_swapaxes(dense, -1, -2) : dense;
					if (rows[i] > 100)
						left = lb_slice(left, LB_TO(4));
					lb_tensor *y = lb_gather_qmm(x, q, left, right, how, transpose);
					lb_tensor *z = lb_gather_mm(lb_astype(x, LB_F32), dense, left, right);
					assert_int_equal(lb_dtype_of(y), dtype);
					assert_true(largest(lb_subtract(y, z)) <=
						    (dtype == LB_F32 ? 1e-5 : 1e-2) * largest(z));
					/* all of x, or of w, and a few of w in disorder, of which one is taken most of the time */
					y = lb_gather_qmm(x, q, NULL, lb_full(LB_SHAPE(), 4, LB_I64), how, transpose);
					z = lb_gather_mm(lb_astype(x, LB_F32), dense, NULL,
							 lb_full(LB_SHAPE(), 4, LB_I64));
					assert_true(largest(lb_subtract(y, z)) <=
						    (dtype == LB_F32 ? 1e-5 : 1e-2) * largest(z));
					q.w = lb_reshape(q.w, LB_SHAPE(2, 3, N, -1));
					q.scales = lb_reshape(q.scales, LB_SHAPE(2, 3, N, -1));
					q.biases = q.biases ? lb_reshape(q.biases, LB_SHAPE(2, 3, N, -1)) : NULL;
					y = lb_gather_qmm(x, q, NULL, NULL, how, transpose);
					z = lb_quantized_matmul(x, q, how, transpose);
					assert_true(largest(lb_subtract(y, z)) <=
						    (dtype == LB_F32 ? 1e-5 : 1e-2) * largest(z));
				}
}

/* Activations of 8 bits: a matrix of w for each of x, and one for all of them, whose rows are joined. */
static void chosen_rounded(void **state)
{
	(void)state;
	const lb_quant formats[] = { affine4, mxfp8 };
	const int rows[] = { 1, 3, 40 };
	for (int i = 0; i < 2 * 3 * 2 * 2; i++)
		LB_SCOPE {
			enum { N = 128, K = 192 };
			lb_quant how = formats[i % 2];
			bool transpose = i / 2 % 2, each = i / 4 % 2;
			lb_tensor *x = normal(LB_SHAPE(2, 3, rows[i / 8], transpose ? K : N), LB_F32);
			lb_quantized q =
			    lb_quantize(normal(each ? LB_SHAPE(2, 3, N, K) : LB_SHAPE(N, K), LB_F32), how, NULL);
			lb_tensor *plain = lb_quantized_matmul(x, q, how, transpose);
			how.activations = LB_I8;
			lb_tensor *y = lb_gather_qmm(x, q, NULL, NULL, how, transpose);
			lb_tensor *z = lb_quantized_matmul(x, q, how, transpose);
			assert_true(largest(lb_subtract(y, z)) <= 1e-5 * largest(z));
			assert_true(largest(lb_subtract(y, plain)) > 1e-4 * largest(z));
		}
}

/* Each product lies in its own place, and takes the memory of one. */
static void chosen_memory(void **state)
{
	(void)state;
	enum { N = 512, COUNT = 64 };
	LB_SCOPE {
		lb_quantized q = lb_quantize(normal(LB_SHAPE(COUNT, N, N), LB_F32), affine4, NULL);
		lb_tensor *x = normal(LB_SHAPE(1, 32, N), LB_F32), *all = lb_arange(0, COUNT, 1, LB_I32);
		assert_true(lb_eval(q.w, q.scales, q.biases, x, all));
		lb_tensor *y = lb_gather_qmm(x, q, lb_zeros(LB_SHAPE(1), LB_I32), all, affine4, true);
		uint64_t before = lb_active_memory();
		lb_reset_peak_memory();
		assert_true(lb_eval(y));
		assert_true(lb_peak_memory() - before < (uint64_t)lb_nbytes(y) + ((uint64_t)8 << 20));
		assert_null(lb_debug_eval(lb_id(lb_gather_qmm(x, q, NULL, all, affine4, true))));
	}
}

/* ---- errors ---- */

#define FAILS(call, words) \
	do { \
		LB_SCOPE { \
			assert_null(call); \
			assert_true(error_has(words)); \
		} \
	} while (0)

static lb_tensor *words(lb_quant how, lb_dtype dtype)
{
	return lb_quantize(normal(LB_SHAPE(4, 128), dtype), how, NULL).w;
}

static void errors_of_quantize(void **state)
{
	(void)state;
	lb_tensor *x = normal(LB_SHAPE(4, 100), LB_F32), *scale = lb_ones(LB_SHAPE(), LB_F32);
	FAILS(lb_quantize(x, affine4, NULL).w, "quantize: (4,100) groups 64");
	FAILS(lb_quantize(lb_ones(LB_SHAPE(), LB_F32), affine4, NULL).w, "quantize: last axis");
	FAILS(words(affine4, LB_I32), "quantize: int32 lb_astype");
	FAILS(words(affine4, LB_F64), "quantize: float64 lb_astype");
	FAILS(words((lb_quant){ .mode = LB_QUANT_AFFINE, .bits = 7, .group = 64 }, LB_F32), "quantize: 7 bits");
	FAILS(words((lb_quant){ .mode = LB_QUANT_AFFINE, .bits = -4, .group = 64 }, LB_F32), "quantize: -4 bits");
	FAILS(words((lb_quant){ .mode = LB_QUANT_AFFINE, .bits = 4, .group = 48 }, LB_F32), "quantize: 48 32, 64");
	FAILS(words((lb_quant){ .mode = LB_QUANT_MXFP4, .bits = 8, .group = 32 }, LB_F32), "quantize: mxfp4 8");
	FAILS(words((lb_quant){ .mode = LB_QUANT_NVFP4, .bits = 4, .group = 32 }, LB_F32), "quantize: nvfp4 16 32");
	FAILS(words((lb_quant){ .mode = (lb_quant_mode)9, .bits = 4, .group = 32 }, LB_F32), "quantize: 9 mode");
	x = normal(LB_SHAPE(4, 128), LB_F32);
	FAILS(words((lb_quant){ .activations = LB_F16 }, LB_F32), "quantize: activations float16 int8");
	FAILS(lb_quantize(x, affine4, scale).w, "quantize: global scale nvfp4 affine");
	FAILS(lb_quantize(x, nvfp4, x).w, "quantize: global scale (4,128)");
	FAILS(lb_quantize(NULL, affine4, NULL).w, "quantize: x is NULL");
}

static void errors_of_choice(void **state)
{
	(void)state;
	lb_tensor *x = normal(LB_SHAPE(2, 3, 128), LB_F32), *some = lb_arange(0, 3, 1, LB_I32);
	lb_quantized q = lb_quantize(normal(LB_SHAPE(5, 6, 128), LB_F32), affine4, NULL);
	FAILS(lb_gather_qmm(x, q, some, x, affine4, true), "gather_qmm float32");
	FAILS(lb_gather_qmm(x, q, some, NULL, affine4, true), "gather_qmm (3) (5)");
	FAILS(lb_gather_qmm(x, q, NULL, some, affine4, false), "gather_qmm 128 6 transpose");
	FAILS(lb_gather_qmm(lb_slice(x, LB_AT(0), LB_AT(0)), q, some, some, affine4, true),
	      "gather_qmm (128) two axes");
	lb_tensor *y = lb_gather_qmm(x, q, some, some, affine4, true);
	assert_false(lb_eval(y));
	assert_true(error_has("gather_qmm index 2"));
}

static void errors_of_use(void **state)
{
	(void)state;
	lb_tensor *x = normal(LB_SHAPE(2, 128), LB_F32);
	lb_quantized q = lb_quantize(normal(LB_SHAPE(6, 128), LB_F32), affine4, NULL);
	lb_quantized f = lb_quantize(normal(LB_SHAPE(6, 128), LB_F32), mxfp4, NULL), bad;
#define MATMUL(member, value) (bad = q, bad.member = (value), lb_quantized_matmul(x, bad, affine4, true))
	FAILS(MATMUL(scales, NULL), "quantized_matmul: no scales lb_quantize");
	FAILS(MATMUL(biases, NULL), "quantized_matmul: no biases");
	FAILS(MATMUL(w, x), "quantized_matmul: w float32 uint32");
	FAILS(MATMUL(scales, lb_astype(q.scales, LB_U8)), "quantized_matmul: scales uint8");
	FAILS(MATMUL(scales, lb_slice(q.scales, LB_FROM(1))), "quantized_matmul: scales (5,2) biases (6,2)");
	FAILS(MATMUL(global_scale, x), "quantized_matmul: global scale");
	FAILS(MATMUL(w, NULL), "quantized_matmul: q.w is NULL");
#undef MATMUL
	lb_quant wrong = { .mode = LB_QUANT_AFFINE, .bits = 4, .group = 32 },
		 bits = { .mode = LB_QUANT_AFFINE, .bits = 8, .group = 64 };
	FAILS(lb_quantized_matmul(x, q, wrong, true), "quantized_matmul: (6,16) (6,2) groups of 32");
	FAILS(lb_quantized_matmul(x, q, bits, true), "quantized_matmul: (6,16) (6,2) 8 bits");
	FAILS(lb_quantized_matmul(x, q, mxfp4, true), "quantized_matmul: mxfp4 no biases");
	FAILS(lb_quantized_matmul(x, f, affine4, true), "quantized_matmul: no biases affine");
	FAILS(lb_quantized_matmul(x, q, affine4, false), "quantized_matmul: (2,128) (6,16) 128 6");
	FAILS(lb_quantized_matmul(normal(LB_SHAPE(2, 6), LB_F32), q, affine4, true), "other value of transpose");
	FAILS(lb_quantized_matmul(lb_astype(x, LB_I32), q, affine4, true), "quantized_matmul: int32 lb_astype");
	FAILS(lb_quantized_matmul(lb_astype(x, LB_F64), f, mxfp4, true), "quantized_matmul: float64");
	FAILS(lb_quantized_matmul(lb_ones(LB_SHAPE(), LB_F32), q, affine4, true), "quantized_matmul: axis");
	FAILS(lb_dequantize(q, wrong, LB_F32), "dequantize: (6,16) (6,2)");
	FAILS(lb_dequantize(q, affine4, LB_I32), "dequantize: int32");
	FAILS(lb_dequantize(q, affine4, (lb_dtype)99), "dequantize:");
	bad = f;
	bad.scales = lb_astype(f.scales, LB_F32);
	FAILS(lb_dequantize(bad, mxfp4, LB_F32), "dequantize: scales float32 uint8");
	lb_tensor *batch = lb_broadcast_to(x, LB_SHAPE(3, 2, 128));
	q = lb_quantize(normal(LB_SHAPE(2, 6, 128), LB_F32), affine4, NULL);
	FAILS(lb_quantized_matmul(batch, q, affine4, true), "quantized_matmul (3) (2)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(affine_error),
		TEST(float_error),
		TEST(exact_values),
		TEST(product_memory),
		TEST(evaluated_by_a_debugger),
		TEST(views_of_weights),
		TEST(views_of_parts),
		TEST(errors_of_quantize),
		TEST(chosen),
		TEST(chosen_rounded),
		TEST(chosen_memory),
		TEST(errors_of_choice),
		TEST(errors_of_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
