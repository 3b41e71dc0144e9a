/* What is computed as some other runtime computes it, in its order and with its rounding: products and running sums in steps, partitions,
 * random bits. The values of MLX were printed by 0.32.4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/half.h"
#include "probe.h"

static float rounded(float x, lb_dtype dtype)
{
	return dtype == LB_BF16 ? lb_bf16_to_float(lb_float_to_bf16(x)) : lb_f16_to_float(lb_float_to_f16(x));
}

static const float *floats(lb_tensor *x)
{
	const float *data = lb_data(lb_contiguous(lb_astype(x, LB_F32)));

	assert_non_null(data);
	return data;
}

static void products(void **state)
{
	static const struct {
		int64_t m, k, n;
	} sizes[] = { { 1, 1, 1 }, { 3, 200, 70 }, { 2, 0, 3 }, { 0, 4, 2 }, { 5, 64, 129 } };

	(void)state;
	for (int half = 0; half < 2; half++)
		for (int s = 0; s < 5; s++)
			LB_SCOPE {
				lb_dtype dtype = half ? LB_F16 : LB_BF16;
				int64_t m = sizes[s].m, k = sizes[s].k, n = sizes[s].n;
				lb_tensor *a = lb_random_normal(LB_SHAPE(2, m, k), dtype, lb_key(1));
				lb_tensor *b = lb_random_normal(LB_SHAPE(n, k), dtype, lb_key(2));
				lb_tensor *c = lb_matmul_in_steps(a, lb_transpose(b, LB_ALL_AXES));
				if (m * n == 0)
					assert_true(lb_eval(c));
				const float *x = floats(a), *y = floats(b), *z = floats(c);
				for (int64_t i = 0; i < 2 * m * n; i++) {
					const float *row = x + i / n * k, *column = y + i % n * k;
					float sum = 0;
					for (int64_t j = 0; j < k; j++)
						sum = rounded(sum + rounded(row[j] * column[j], dtype), dtype);
					assert_true(z[i] == sum);
				}
			}
}

static float step(lb_scan_kind kind, float a, float b)
{
	switch (kind) {
	case LB_SCAN_SUM: return a + b;
	case LB_SCAN_PROD: return a * b;
	case LB_SCAN_MAX: return isnan(a) || a > b ? a : b;
	default: return isnan(a) || a < b ? a : b;
	}
}

static void running(void **state)
{
	static const float before[] = { 0, 1, -INFINITY, INFINITY };
	const lb_dtype dtypes[] = { LB_F16, LB_BF16, LB_F32 };
	enum { ROWS = 3, N = 50, COLUMNS = 4 };

	(void)state;
	for (int i = 0; i < 3 * 4 * 4; i++)
		LB_SCOPE {
			lb_dtype dtype = dtypes[i % 3];
			lb_scan_kind kind = (lb_scan_kind)(i / 3 % 4);
			bool reverse = i / 12 % 2, inclusive = i / 24;
			lb_tensor *x = lb_random_normal(LB_SHAPE(ROWS, N, COLUMNS), dtype, lb_key(3));
			const float *from = floats(x), *to = floats(lb_scan(x, kind, 1, reverse, inclusive));
			for (int line = 0; line < ROWS * COLUMNS; line++) {
				float so_far = before[kind];
				for (int k = 0; k < N; k++) {
					int row = line / COLUMNS * N + (reverse ? N - 1 - k : k);
					int at = row * COLUMNS + line % COLUMNS;
					float next = step(kind, so_far, from[at]);
					next = dtype == LB_F32 ? next : rounded(next, dtype);
					assert_true(to[at] == (inclusive ? next : so_far));
					so_far = next;
				}
			}
		}
	LB_SCOPE {
		lb_tensor *x = lb_from_data((int8_t[]){ 100, 100, -3 }, 3, LB_SHAPE(3), LB_I8);
		const int8_t *sums = lb_data(lb_scan(x, LB_SCAN_SUM, 0, false, true));
		assert_int_equal(sums[1], -56);
		const int8_t *least = lb_data(lb_scan(x, LB_SCAN_MIN, 0, false, false));
		assert_int_equal(least[0], 127);
		assert_int_equal(least[2], 100);
		x = lb_from_data((float[]){ 1, NAN, 3 }, 12, LB_SHAPE(3), LB_F32);
		assert_true(isnan(floats(lb_scan(x, LB_SCAN_MAX, 0, false, true))[2]));
		lb_tensor *t = lb_from_data((uint8_t[]){ 1, 0, 1 }, 3, LB_SHAPE(3), LB_BOOL);
		assert_memory_equal(lb_data(lb_scan(t, LB_SCAN_MIN, 0, false, true)), "\1\0\0", 3);
		assert_memory_equal(lb_data(lb_scan(t, LB_SCAN_MAX, 0, false, false)), "\0\1\1", 3);
	}
	LB_SCOPE {
		lb_tensor *x = lb_from_data((float[]){ 1, 2, 3, -1, 2, 2 }, 24, LB_SHAPE(3), LB_C64);
		const float sums[] = { 6, 3, 5, 1, 2, 2 };
		assert_memory_equal(lb_data(lb_scan(x, LB_SCAN_SUM, 0, true, true)), sums, sizeof sums);
	}
	FAILS_AT_ONCE(lb_scan(lb_ones(LB_SHAPE(3), LB_C64), LB_SCAN_MAX, 0, false, true), "scan: complex64");
	FAILS_AT_ONCE(lb_matmul_in_steps(lb_ones(LB_SHAPE(3, 3), LB_F32), lb_ones(LB_SHAPE(3, 3), LB_F32)),
		      "matmul_in_steps: float32");
}

/* Whose order is MLX's, that is, of the C++ library. */
static void partitions(void **state)
{
	static const struct {
		int kth;
		float values[12];
		uint32_t indices[12];
	} of_mlx[] = {
		{ 3, { 1, 0, 2, 3, 5, 3, 4, 5, 6, 7, 9, 8 }, { 3, 10, 5, 1, 0, 11, 9, 7, 8, 6, 4, 2 } },
		{ 7, { 3, 2, 0, 1, 4, 3, 5, 5, 6, 7, 9, 8 }, { 1, 5, 10, 3, 9, 7, 0, 11, 8, 6, 4, 2 } },
		{ 11, { 5, 3, 5, 1, 0, 2, 4, 3, 8, 7, 6, 9 }, { 11, 1, 0, 3, 10, 5, 9, 7, 2, 6, 8, 4 } },
	};

	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_from_data((float[]){ 5, 3, 8, 1, 9, 2, 7, 3, 6, 4, 0, 5 }, 48, LB_SHAPE(12), LB_F32);
		for (size_t i = 0; i < sizeof of_mlx / sizeof *of_mlx; i++) {
			assert_memory_equal(lb_data(lb_partition(x, of_mlx[i].kth, 0)), of_mlx[i].values, 48);
			assert_memory_equal(lb_data(lb_argpartition(x, of_mlx[i].kth, 0)), of_mlx[i].indices, 48);
		}
	}
	for (int kth = 0; kth < 1000; kth += 111)
		LB_SCOPE {
			lb_tensor *x = lb_random_normal(LB_SHAPE(3, 1000, 2), LB_F32, lb_key((uint64_t)kth));
			lb_tensor *sorted = lb_sort(x, 1), *y = lb_partition(x, kth, 1);
			lb_tensor *same = lb_take_along_axis(x, lb_argpartition(x, kth, 1), 1);
			lb_tensor *at = lb_slice(sorted, LB_ALL, LB_RANGE(kth, kth + 1));
			lb_tensor *front = lb_slice(y, LB_ALL, LB_TO(kth + 1));
			lb_tensor *back = lb_slice(y, LB_ALL, LB_FROM(kth));
			assert_true(lb_item(lb_all(lb_equal(lb_sort(y, 1), sorted), LB_ALL_AXES, false)));
			assert_true(lb_item(lb_all(lb_equal(same, y), LB_ALL_AXES, false)));
			assert_true(lb_item(lb_all(lb_less_equal(front, at), LB_ALL_AXES, false)));
			assert_true(lb_item(lb_all(lb_greater_equal(back, at), LB_ALL_AXES, false)));
		}
	LB_SCOPE {
		lb_tensor *x = lb_from_data((float[]){ NAN, 1, NAN, 0 }, 16, LB_SHAPE(4), LB_F32);
		const float *y = lb_data(lb_partition(x, 1, 0));
		assert_true(y[0] == 0 && y[1] == 1 && isnan(y[2]) && isnan(y[3]));
	}
	LB_SCOPE { /* likewise MLX's: one NaN is like another */
		static const uint32_t of_nan[] = { 11, 0, 2, 3, 10, 5, 6, 7, 9, 8, 4, 1 };
		lb_tensor *x =
		    lb_from_data((float[]){ 5, NAN, 3, 8, NAN, 1, 9, 2, NAN, 7, 3, NAN }, 48, LB_SHAPE(12), LB_F32);
		assert_memory_equal(lb_data(lb_argpartition(x, 9, 0)), of_nan, 48);
	}
	FAILS_AT_ONCE(lb_partition(lb_ones(LB_SHAPE(3), LB_F32), 3, 0), "partition: number 3 below 3");
	FAILS_AT_ONCE(lb_argpartition(lb_ones(LB_SHAPE(3), LB_I64), 0, 0), "argpartition: int64 lb_sort()");
}

/* Lines made for it, of which each median of three is next to an end, so that std::nth_element() of GNU's C++ library goes on by a
 * heap; kth is the last. */
static void partitions_in_a_bad_order(void **state)
{
	static const struct {
		int n;
		float line[28];
		uint32_t indices[28]; /* that it gives */
	} of_gnu
	    [] = {
		    { 20,
		      { 15, 1, 11, 3, 19, 5, 13, 7, 16, 9, 0, 2, 4, 6, 8, 10, 12, 14, 18, 17 },
		      { 1, 10, 3, 11, 5, 12, 7, 13, 9, 14, 2, 15, 6, 16, 0, 17, 8, 19, 18, 4 } },
		    { 24,
		      { 23, 1, 13, 3, 16, 5, 15, 7, 22, 9, 21, 11, 0, 2, 4, 6, 8, 10, 12, 14, 20, 17, 18, 19 },
		      { 1, 12, 3, 13, 5, 14, 7, 15, 9, 16, 11, 17, 2, 18, 6, 19, 4, 10, 8, 23, 20, 21, 22, 0 } },
		    { 28,
		      { 16, 1, 15, 3, 26, 5,  24, 7,  27, 9,  23, 11, 25, 13,
			0,  2, 4,  6, 8,  10, 12, 14, 22, 19, 20, 17, 18, 21 },
		      { 1, 14, 3, 15, 5, 16, 7, 17, 9,  18, 11, 19, 13, 20,
			2, 21, 0, 12, 4, 10, 6, 27, 22, 23, 24, 25, 26, 8 } },
	    };

	(void)state;
	for (size_t i = 0; i < sizeof of_gnu / sizeof *of_gnu; i++)
		LB_SCOPE {
			size_t n = (size_t)of_gnu[i].n;
			lb_tensor *x = lb_from_data(of_gnu[i].line, n * sizeof(float), LB_SHAPE(of_gnu[i].n), LB_F32);
			lb_tensor *y = lb_partition(x, -1, 0), *places = lb_argpartition(x, -1, 0);
			assert_true(lb_eval(y, places));
			assert_memory_equal(lb_data(places), of_gnu[i].indices, n * sizeof(uint32_t));
			assert_true(lb_item(lb_array_equal(y, lb_take(x, places, 0), false)));
		}
}

static void bits(void **state)
{
	/* mx.random.split(mx.random.key(7), 3) */
	static const uint32_t of_mlx[] = { 0x107b9334, 0x33609431, 0x71979c42, 0x61dcd604, 0xace8297e, 0x539bb5ac };

	(void)state;
	LB_SCOPE {
		/* the vectors of Random123: of the keys and counters 0 */
		lb_tensor *zero = lb_zeros(LB_SHAPE(2), LB_U32);
		assert_int_equal(lb_item_int(lb_random_bits(zero, LB_SHAPE(1), LB_U32)), 0x6b200159);
		lb_tensor *key = lb_from_data((uint32_t[]){ 0, 7 }, 8, LB_SHAPE(2), LB_U32);
		assert_memory_equal(lb_data(lb_random_bits(key, LB_SHAPE(3, 2), LB_U32)), of_mlx, sizeof of_mlx);
		/* narrow ones are the same bytes, but of so many words as they need */
		lb_tensor *bytes = lb_random_bits(key, LB_SHAPE(24), LB_U8);
		assert_memory_equal(lb_data(bytes), of_mlx, sizeof of_mlx);
		assert_memory_equal(lb_data(lb_random_bits(key, LB_SHAPE(23), LB_U8)), of_mlx, 23);
		assert_memory_equal(lb_data(lb_bitcast(bytes, LB_U32)), of_mlx, sizeof of_mlx);
		/* each of several keys by itself, however they lie */
		lb_tensor *keys = lb_transpose(lb_random_bits(key, LB_SHAPE(2, 5), LB_U32), LB_ALL_AXES);
		lb_tensor *all = lb_random_bits(keys, LB_SHAPE(3), LB_U16);
		for (int i = 0; i < 5; i++)
			assert_memory_equal(lb_data(lb_contiguous(lb_slice(all, LB_AT(i)))),
					    lb_data(lb_random_bits(lb_slice(keys, LB_AT(i)), LB_SHAPE(3), LB_U16)), 6);
		assert_true(lb_eval(lb_random_bits(keys, LB_SHAPE(0), LB_U8)));
	}
	FAILS_AT_ONCE(lb_random_bits(lb_ones(LB_SHAPE(3), LB_U32), LB_SHAPE(1), LB_U8), "random_bits: (3)");
	FAILS_AT_ONCE(lb_random_bits(lb_ones(LB_SHAPE(2), LB_U32), LB_SHAPE(1), LB_F32), "random_bits: uint8");
}

static void casts(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_from_data((float[]){ 1, -2, 0.5f, 4 }, 16, LB_SHAPE(2, 2), LB_F32);
		const uint16_t *halves = lb_data(lb_bitcast(lb_transpose(x, LB_ALL_AXES), LB_BF16));
		assert_int_equal(halves[1], 0x3f80); /* 1, and then 0.5 */
		assert_int_equal(halves[3], 0x3f00);
		lb_tensor *back = lb_bitcast(lb_bitcast(x, LB_U64), LB_F32);
		assert_true(lb_item(lb_all(lb_equal(back, x), LB_ALL_AXES, false)));
	}
	FAILS_AT_ONCE(lb_bitcast(lb_ones(LB_SHAPE(3), LB_U8), LB_F32), "bitcast: uint8 (3) float32");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(products), TEST(running), TEST(partitions), TEST(partitions_in_a_bad_order),
		TEST(bits),     TEST(casts),
	};
	return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
