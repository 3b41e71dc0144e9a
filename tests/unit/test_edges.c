/* Where operations end: values that overflow on the way, numbers that do not fit, files that are
 * partly strange, and who is named when a call fails. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/tensor.h"
#include "probe.h"

static double first_of(lb_tensor *x)
{
	return lb_item(lb_slice(lb_flatten(x, 0, -1), LB_AT(0)));
}

static lb_tensor *vector(int n, const double *values, lb_dtype dtype)
{
	return lb_astype(lb_from_data(values, (size_t)n * sizeof *values, LB_SHAPE(n), LB_F64), dtype);
}

static void sigmoids(void **state)
{
	const double xs[] = { -103, -95, -89, -88, -87, -1, -0.0, 1, 89, 110, -INFINITY, INFINITY, NAN };
	enum { N = sizeof xs / sizeof *xs };
	float y[N];
	double z[N];

	(void)state;
	LB_SCOPE {
		lb_copy_out(lb_sigmoid(vector(N, xs, LB_F32)), y, sizeof y);
		lb_copy_out(lb_sigmoid(vector(N, xs, LB_F64)), z, sizeof z);
		for (int i = 0; i < N - 1; i++) {
			double right = xs[i] < 0 ? exp(xs[i]) / (1 + exp(xs[i])) : 1 / (1 + exp(-xs[i]));
			assert_true(fabs(y[i] - right) <= 4e-7 * right + 3e-45);
			assert_true(fabs(z[i] - right) <= 1e-15 * right);
		}
		assert_true(y[0] > 0 && y[2] > 0);
		assert_true(isnan(y[N - 1]) && isnan(z[N - 1]));
		float parts[2] = { -129, 2 };
		lb_copy_out(lb_sigmoid(lb_from_data(parts, sizeof parts, LB_SHAPE(), LB_C64)), parts, sizeof parts);
		assert_true(fabsf(parts[0]) < 1e-38f && fabsf(parts[1]) < 1e-38f);
	}
}

static bool gelu_tanh(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context, (void)n_in, (void)n_out;
	out[0] = lb_sum(lb_gelu_tanh(in[0]), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static void gelu_tanh_far_out(void **state)
{
	const double xs[] = { 1e20, -1e20, 11, -11, 0, 1e300 };
	const float slopes[] = { 1, 0, 1, 0, 0.5f };
	float y[5];

	(void)state;
	LB_SCOPE {
		lb_tensor *x = vector(5, xs, LB_F32), *grad;
		assert_true(lb_grad(gelu_tanh, NULL, 1, &x, &grad));
		assert_true(lb_copy_out(grad, y, sizeof y));
		assert_memory_equal(y, slopes, sizeof y);
		assert_true(first_of(lb_gelu_tanh(lb_full(LB_SHAPE(1), 1e20, LB_F32))) == (double)1e20f);
		x = vector(6, xs, LB_F64);
		assert_true(lb_grad(gelu_tanh, NULL, 1, &x, &grad));
		assert_true(lb_item(lb_slice(grad, LB_AT(5))) == 1);
	}
}

static void numbers_that_do_not_fit(void **state)
{
	uint64_t large = UINT64_MAX, fits = INT64_MAX;
	uint8_t bytes[] = { 0, 7, 255 }, y[3];

	(void)state;
	LB_SCOPE {
		assert_int_equal(lb_item_int(lb_from_data(&fits, 8, LB_SHAPE(), LB_U64)), INT64_MAX);
		assert_int_equal(lb_item_int(lb_from_data(&large, 8, LB_SHAPE(), LB_U64)), 0);
		assert_true(error_has("item_int 18446744073709551615 uint64"));

		assert_null(lb_arange(254, 259, 1, LB_U8));
		assert_true(error_has("arange 258 uint8"));
		assert_null(lb_arange(2, -2, -1, LB_U32));
		assert_true(error_has("arange -1 uint32"));
		assert_null(lb_arange(0, 2e19, 1e19, LB_I64));
		assert_true(error_has("arange int64"));
		assert_non_null(lb_arange(250, 256, 1, LB_U8));
		assert_non_null(lb_arange(-128, 128, 1, LB_I8));
		assert_int_equal(lb_size(lb_arange(300, 300, 1, LB_U8)), 0);

		lb_tensor *x = lb_from_data(bytes, 3, LB_SHAPE(3), LB_U8);
		assert_true(lb_item(lb_all(lb_less(x, lb_scalar_int(300)), LB_ALL_AXES, false)) == 1);
		assert_true(lb_item(lb_any(lb_equal(lb_scalar_int(256), x), LB_ALL_AXES, false)) == 0);
		assert_true(lb_item(lb_all(lb_greater(x, lb_scalar_int(-1)), LB_ALL_AXES, false)) == 1);
		lb_tensor *u = lb_from_data(&large, 8, LB_SHAPE(), LB_U64);
		assert_true(lb_item(lb_greater(u, lb_scalar_int(-1))) == 1);
		assert_true(lb_item(lb_less(lb_full(LB_SHAPE(), 1, LB_BOOL), lb_scalar_int(1ll << 40))) == 1);
		assert_null(lb_add(x, lb_scalar_int(300)));
		assert_true(error_has("add 300 uint8"));

		lb_tensor *clipped = lb_clip(x, lb_scalar_int(-5), lb_scalar_int(300));
		assert_int_equal(lb_dtype_of(clipped), LB_U8);
		assert_true(lb_copy_out(clipped, y, 3));
		assert_memory_equal(y, bytes, 3);
		assert_int_equal(lb_item_int(lb_max(lb_clip(x, NULL, lb_scalar_int(1000)), LB_ALL_AXES, false)), 255);
		assert_null(lb_clip(x, lb_scalar_int(300), NULL));
		assert_true(error_has("clip 300 uint8"));
	}
	assert_true(lb_ok());
}

static void literals_of_literals(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *half = lb_ones(LB_SHAPE(2), LB_F16);
		lb_tensor *five = lb_add(lb_scalar(2), lb_scalar_int(3));
		assert_int_equal(lb_dtype_of(lb_multiply(half, five)), LB_F16);
		assert_true(first_of(lb_multiply(half, five)) == 5);
		assert_int_equal(lb_dtype_of(lb_multiply(lb_ones(LB_SHAPE(2), LB_U8),
							 lb_subtract(lb_scalar_int(7), lb_scalar_int(3)))),
				 LB_U8);
		assert_int_equal(lb_dtype_of(lb_multiply(lb_ones(LB_SHAPE(2), LB_U8),
							 lb_divide(lb_scalar_int(7), lb_scalar_int(2)))),
				 LB_F32);
		assert_true(lb_item(lb_divide(lb_scalar_int(7), lb_scalar_int(2))) == 3.5);
		assert_int_equal(lb_item_int(lb_maximum(lb_scalar_int(-7), lb_scalar_int(2))), 2);
		assert_int_equal(lb_dtype_of(lb_add(lb_scalar_int(INT64_MAX), lb_scalar_int(1))), LB_I64);
	}
	assert_true(lb_ok());
}

static void large_integers(void **state)
{
	const int64_t xs[] = { (1ll << 40) + 1, (1ll << 40) + 3 };
	const int32_t small[] = { (1 << 30) + 1, (1 << 30) + 3 };

	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_from_data(xs, sizeof xs, LB_SHAPE(2), LB_I64);
		lb_tensor *y = lb_from_data(small, sizeof small, LB_SHAPE(2), LB_I32);
		assert_true(lb_item(lb_var(x, LB_ALL_AXES, false, 0)) == 1);
		assert_true(lb_item(lb_var(y, LB_ALL_AXES, false, 1)) == 2);
		lb_tensor *many = lb_broadcast_to(lb_full(LB_SHAPE(1), 16777217, LB_I32), LB_SHAPE(3));
		assert_true(lb_item(lb_mean(lb_concatenate(2, (lb_tensor *[]){ many, lb_full(LB_SHAPE(3), 1, LB_I32) },
							   0),
					    LB_ALL_AXES, false)) == 8388609);
	}
}

static void who_is_named(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *ints = lb_ones(LB_SHAPE(2, 3), LB_I32), *x = lb_ones(LB_SHAPE(2, 3), LB_F32);
		assert_null(lb_linear(ints, ints, NULL));
		assert_true(error_has("linear: int32"));
		assert_null(lb_one_hot(ints, INT64_MAX, LB_F32));
		assert_true(error_has("one_hot:"));
		assert_null(lb_one_hot(ints, 3, (lb_dtype)99));
		assert_true(error_has("one_hot: 99 no dtype"));
		assert_null(lb_slice(x, LB_REST, LB_REST));
		assert_true(error_has("slice: LB_REST 2 times"));
		assert_null(lb_matmul(ints, ints));
		assert_true(error_has("matmul:"));
	}
}

/* What lb_save_npz() writes of x and y, with the field of x's member in the central directory changed
 * to a number of two bytes. */
static lb_file *changed_archive(int at, uint16_t to)
{
	char path[] = "/tmp/edges-XXXXXX", bytes[4096];
	const char *names[] = { "x", "y" };
	float data[] = { 1, 2 };
	int fd = mkstemp(path);
	size_t n = 0;
	LB_SCOPE {
		lb_tensor *x = lb_from_data(data, sizeof data, LB_SHAPE(2), LB_F32);
		assert_true(lb_save_npz(path, 2, names, (lb_tensor *[]){ x, x }));
	}
	close(fd);
	FILE *file = fopen(path, "rb");
	n = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	unlink(path);
	char *entry = memmem(bytes, n, "PK\1\2", 4);
	assert_non_null(entry);
	memcpy(entry + at, &to, sizeof to);
	return lb_open_bytes(bytes, n, "archive");
}

static void strange_members(void **state)
{
	(void)state;
	for (int encrypted = 0; encrypted < 2; encrypted++) {
		lb_file *file = encrypted ? changed_archive(8, 1) : changed_archive(10, 93);
		assert_non_null(file);
		LB_SCOPE {
			assert_int_equal(lb_file_count(file), 2);
			lb_tensor *y = lb_file_get(file, "y");
			assert_true(first_of(y) == 1);
			assert_true(lb_tensor_buffer(y)->flags & LB_BUFFER_CONTENT); /* no mapped file */
			assert_null(lb_file_get(file, "x"));
			assert_true(error_has(encrypted ? "archive 'x' encrypted"
							: "archive 'x' compression method 93"));
		}
		lb_file_close(file);
	}
}

/* Arithmetic on truth values is that of 0 and 1, where it is no logic. */
static void arithmetic_on_bools(void **state)
{
	static const uint8_t left[] = { 0, 0, 1, 1 }, right[] = { 0, 1, 0, 1 };
	static const struct {
		lb_tensor *(*run)(lb_tensor *a, lb_tensor *b);
		lb_dtype dtype;
		double values[4];
	} rows[] = {
		{ lb_add, LB_BOOL, { 0, 1, 1, 1 } },      { lb_multiply, LB_BOOL, { 0, 0, 0, 1 } },
		{ lb_subtract, LB_I32, { 0, -1, 1, 0 } }, { lb_power, LB_I32, { 1, 0, 1, 1 } },
		{ lb_remainder, LB_I32, { 0, 0, 0, 0 } }, { lb_maximum, LB_BOOL, { 0, 1, 1, 1 } },
		{ lb_minimum, LB_BOOL, { 0, 0, 0, 1 } },
	};

	(void)state;
	LB_SCOPE {
		lb_tensor *a = lb_from_data(left, sizeof left, LB_SHAPE(4), LB_BOOL);
		lb_tensor *b = lb_from_data(right, sizeof right, LB_SHAPE(4), LB_BOOL);
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			lb_tensor *x = rows[i].run(a, b);
			double values[4];
			assert_int_equal(lb_dtype_of(x), rows[i].dtype);
			lb_copy_out(lb_astype(x, LB_F64), values, sizeof values);
			assert_memory_equal(values, rows[i].values, sizeof values);
		}
		assert_int_equal(lb_dtype_of(lb_negative(a)), LB_I32);
		assert_true(lb_item(lb_min(lb_negative(a), LB_ALL_AXES, false)) == -1);
		assert_int_equal(lb_dtype_of(lb_remainder(a, lb_scalar_int(2))), LB_I32);
		lb_tensor *z = lb_zeros(LB_SHAPE(4), LB_C64);
		assert_null(lb_remainder(a, z));
		assert_true(error_has("remainder: not defined for complex64"));
	}
}

/* What a query of 1 makes of keys 0 and -far, and of values 0 and a large one. */
static double far_key(lb_dtype dtype, double far, double value, int64_t queries)
{
	double ret;
	LB_SCOPE {
		lb_tensor *two = lb_reshape(lb_arange(0, 2, 1, dtype), LB_SHAPE(1, 1, 2, 1));
		lb_tensor *k = lb_multiply(two, lb_scalar(-far)), *v = lb_multiply(two, lb_scalar(value));
		lb_tensor *q = lb_ones(LB_SHAPE(1, 1, queries, 1), dtype);
		lb_tensor *y = lb_attention(q, k, v, 1, false, NULL);
		lb_attention_grads grads = lb_attention_grad(q, k, v, 1, false, NULL, q);
		double grad = lb_item(lb_slice(grads.v, LB_ALL, LB_ALL, LB_RANGE(1, 2)));
		ret = lb_item(lb_max(y, LB_ALL_AXES, false));
		if ((grad == 0) != (ret == 0))
			fail_msg("%g of it, but a gradient of %g", ret, grad);
	}
	return ret;
}

/* A key far below a row's highest score counts as none; nothing of one above the limit is lost. */
static void keys_far_below(void **state)
{
	static const struct {
		lb_dtype dtype;
		double limit, value, tolerance;
	} rows[] = { { LB_F32, 88, 3e38, 1e-5 }, { LB_F64, 708, 1e308, 1e-12 } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int64_t queries = 1; queries < 40; queries += 19) {
			double near = rows[i].limit - 1, right = exp(-near) * rows[i].value;
			assert_true(far_key(rows[i].dtype, rows[i].limit + 0.5, rows[i].value, queries) == 0);
			assert_true(fabs(far_key(rows[i].dtype, near, rows[i].value, queries) / right - 1) <
				    rows[i].tolerance);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sigmoids),
		TEST(gelu_tanh_far_out),
		TEST(numbers_that_do_not_fit),
		TEST(literals_of_literals),
		TEST(large_integers),
		TEST(who_is_named),
		TEST(strange_members),
		TEST(arithmetic_on_bools),
		TEST(keys_far_below),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
