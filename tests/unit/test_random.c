/* Random numbers: their range, moments, and that they depend on key and index alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "probe.h"

enum { MANY = 200000 };

static const lb_dtype floats[] = { LB_F16, LB_BF16, LB_F32, LB_F64 };

static void uniform(void **state)
{
	(void)state;
	for (int d = 0; d < 4; d++)
		LB_SCOPE {
			lb_tensor *x = lb_random_uniform(LB_SHAPE(MANY), -2, 6, floats[d], lb_key(7));
			lb_tensor *y = lb_astype(x, LB_F64);
			assert_int_equal(lb_dtype_of(x), floats[d]);
			assert_true(lb_item(lb_min(y, LB_ALL_AXES, false)) >= -2);
			assert_true(lb_item(lb_max(y, LB_ALL_AXES, false)) < 6);
			assert_true(lb_item(lb_min(y, LB_ALL_AXES, false)) < -1.99);
			assert_true(lb_item(lb_max(y, LB_ALL_AXES, false)) > 5.95);
			/* six standard errors of the mean and of the variance, 64 / 12 */
			assert_true(fabs(lb_item(lb_mean(y, LB_ALL_AXES, false)) - 2) < 0.035);
			assert_true(fabs(lb_item(lb_var(y, LB_ALL_AXES, false, 0)) - 64 / 12.0) < 0.07);
		}
}

static void normal(void **state)
{
	(void)state;
	for (int d = 0; d < 4; d++)
		LB_SCOPE {
			lb_tensor *x = lb_random_normal(LB_SHAPE(MANY), floats[d], lb_key(11));
			lb_tensor *y = lb_astype(x, LB_F64), *square = lb_square(y);
			assert_int_equal(lb_dtype_of(x), floats[d]);
			assert_true(fabs(lb_item(lb_mean(y, LB_ALL_AXES, false))) < 0.014);
			assert_true(fabs(lb_item(lb_mean(square, LB_ALL_AXES, false)) - 1) < 0.02);
			lb_tensor *cube = lb_multiply(square, y), *fourth = lb_square(square);
			assert_true(fabs(lb_item(lb_mean(cube, LB_ALL_AXES, false))) < 0.06);
			assert_true(fabs(lb_item(lb_mean(fourth, LB_ALL_AXES, false)) - 3) < 0.14);
			assert_true(lb_item(lb_max(y, LB_ALL_AXES, false)) > 3.5);
			assert_int_equal(lb_item_int(lb_any(lb_isinf(x), LB_ALL_AXES, false)), 0);
			assert_int_equal(lb_item_int(lb_any(lb_isnan(x), LB_ALL_AXES, false)), 0);
		}
}

/* Both parts are normal, independent, and of variance 1/2. */
static void normal_complex(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_random_normal(LB_SHAPE(MANY), LB_C64, lb_key(12));
		lb_tensor *re = lb_astype(lb_real(x), LB_F64), *im = lb_astype(lb_imag(x), LB_F64);
		assert_int_equal(lb_dtype_of(x), LB_C64);
		for (int i = 0; i < 2; i++) {
			lb_tensor *part = i ? im : re;
			/* six standard errors */
			assert_true(fabs(lb_item(lb_mean(part, LB_ALL_AXES, false))) < 0.0095);
			assert_true(fabs(lb_item(lb_mean(lb_square(part), LB_ALL_AXES, false)) - 0.5) < 0.0095);
		}
		assert_true(fabs(lb_item(lb_mean(lb_multiply(re, im), LB_ALL_AXES, false))) < 0.0068);
		lb_tensor *grid = lb_random_normal(LB_SHAPE(3, 5), LB_C64, lb_key(12)),
			  *one = lb_random_normal(LB_SHAPE(), LB_C64, lb_key(12));
		assert_true(lb_item_int(lb_all(lb_equal(lb_slice(x, LB_TO(15)), lb_reshape(grid, LB_SHAPE(-1))),
					       LB_ALL_AXES, false)));
		assert_true(lb_item_int(lb_equal(one, lb_slice(x, LB_AT(0)))));
		assert_int_equal(lb_size(lb_random_normal(LB_SHAPE(4, 0), LB_C64, lb_key(1))), 0);
	}
	FAILS_AT_ONCE(lb_random_normal(LB_SHAPE(INT64_MAX / 4), LB_C64, lb_key(1)), "random_normal");
	FAILS_AT_ONCE(lb_random_uniform(LB_SHAPE(2), 0, 1, LB_C64, lb_key(1)), "uniform complex64");
}

static bool same(lb_tensor *a, lb_tensor *b)
{
	return lb_item_int(lb_all(lb_equal(a, b), LB_ALL_AXES, false)) == 1;
}

static void a_key_is_the_numbers(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_random_normal(LB_SHAPE(3000), LB_F32, lb_key(5));
		lb_tensor *again = lb_random_normal(LB_SHAPE(3000), LB_F32, lb_key(5));
		lb_tensor *grid = lb_random_normal(LB_SHAPE(30, 100), LB_F32, lb_key(5));
		lb_tensor *shorter = lb_random_normal(LB_SHAPE(1001), LB_F32, lb_key(5));
		lb_tensor *other = lb_random_normal(LB_SHAPE(3000), LB_F32, lb_key(6));
		assert_true(same(x, again));
		assert_true(same(x, lb_reshape(grid, LB_SHAPE(-1))));
		assert_true(same(lb_slice(x, LB_TO(1001)), shorter));
		assert_false(same(x, other));
		lb_tensor *u = lb_random_uniform(LB_SHAPE(3000), 0, 1, LB_F32, lb_key(5));
		lb_tensor *v = lb_random_uniform(LB_SHAPE(1001), 0, 1, LB_F32, lb_key(5));
		assert_true(same(lb_slice(u, LB_TO(1001)), v));
		assert_int_equal(lb_size(lb_random_normal(LB_SHAPE(0), LB_F32, lb_key(1))), 0);
		assert_true(lb_eval(lb_random_normal(LB_SHAPE(0, 4), LB_F32, lb_key(1))));
		assert_true(lb_eval(lb_random_uniform(LB_SHAPE(), 0, 1, LB_F16, lb_key(1))));
	}
}

/* Streams of split keys are uncorrelated with each other and with the key's own. */
static void split_keys(void **state)
{
	(void)state;
	enum { KEYS = 6 };
	lb_tensor *xs[KEYS];
	LB_SCOPE {
		lb_random_key key = lb_key(99);
		xs[0] = lb_random_normal(LB_SHAPE(MANY), LB_F64, key);
		for (int i = 1; i < KEYS; i++) {
			lb_random_key split = lb_key_split(key, (uint64_t)(i - 1));
			assert_true(split.value == lb_key_split(key, (uint64_t)(i - 1)).value);
			assert_true(split.value != key.value);
			xs[i] = lb_random_normal(LB_SHAPE(MANY), LB_F64, split);
		}
		for (int i = 0; i < KEYS; i++)
			for (int j = 0; j < i; j++) {
				lb_tensor *product = lb_multiply(xs[i], xs[j]);
				assert_true(fabs(lb_item(lb_mean(product, LB_ALL_AXES, false))) < 0.014);
			}
		/* nor is an element with its neighbours */
		for (int lag = 1; lag < 9; lag++) {
			lb_tensor *product = lb_multiply(lb_slice(xs[0], LB_FROM(lag)), lb_slice(xs[0], LB_TO(-lag)));
			assert_true(fabs(lb_item(lb_mean(product, LB_ALL_AXES, false))) < 0.014);
		}
	}
}

static double mean_of(lb_tensor *x)
{
	return lb_item(lb_mean(lb_astype(x, LB_F64), LB_ALL_AXES, false));
}

static double var_of(lb_tensor *x)
{
	return lb_item(lb_var(lb_astype(x, LB_F64), LB_ALL_AXES, false, 0));
}

static double least(lb_tensor *x)
{
	return lb_item(lb_min(lb_astype(x, LB_F64), LB_ALL_AXES, false));
}

static double most(lb_tensor *x)
{
	return lb_item(lb_max(lb_astype(x, LB_F64), LB_ALL_AXES, false));
}

/* Moments within six standard errors. */
static void distributions(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *n = lb_random_randint(LB_SHAPE(MANY), -3, 5, LB_I8, lb_key(1));
		assert_int_equal(lb_dtype_of(n), LB_I8);
		assert_true(least(n) == -3 && most(n) == 4);
		for (int i = -3; i < 5; i++)
			assert_true(fabs(mean_of(lb_equal(n, lb_scalar_int(i))) - 0.125) < 0.0045);
		n = lb_random_randint(LB_SHAPE(1000), INT64_MAX - 7, INT64_MAX, LB_I64, lb_key(2));
		assert_true(lb_item_int(lb_min(n, LB_ALL_AXES, false)) == INT64_MAX - 7);
		assert_true(lb_item_int(lb_max(n, LB_ALL_AXES, false)) == INT64_MAX - 1);

		lb_tensor *p = lb_from_data((float[]){ 0, 0.25F, 1 }, 12, LB_SHAPE(3, 1), LB_F32);
		lb_tensor *yes = lb_random_bernoulli(p, LB_SHAPE(3, MANY), lb_key(3));
		assert_int_equal(lb_dtype_of(yes), LB_BOOL);
		assert_true(mean_of(lb_slice(yes, LB_AT(0))) == 0 && mean_of(lb_slice(yes, LB_AT(2))) == 1);
		assert_true(fabs(mean_of(lb_slice(yes, LB_AT(1))) - 0.25) < 0.006);
	}
	for (int d = 0; d < 4; d++)
		LB_SCOPE {
			lb_tensor *x = lb_random_gumbel(LB_SHAPE(MANY), floats[d], lb_key(4));
			assert_int_equal(lb_dtype_of(x), floats[d]);
			assert_true(fabs(mean_of(x) - 0.57721566490153286) < 0.018);
			assert_true(fabs(var_of(x) - 1.64493406684822644) < 0.05);
			x = lb_random_laplace(LB_SHAPE(MANY), 2, 0.5, floats[d], lb_key(5));
			assert_int_equal(lb_dtype_of(x), floats[d]);
			assert_true(fabs(mean_of(x) - 2) < 0.0096 && fabs(var_of(x) - 0.5) < 0.016);
			assert_int_equal(lb_item_int(lb_all(lb_isfinite(x), LB_ALL_AXES, false)), 1);
			/* between -1 and 1: 1 - 2 phi(1) / (2 Phi(1) - 1) */
			x = lb_random_truncated_normal(lb_scalar(-1), lb_scalar(1), LB_SHAPE(MANY), floats[d],
						       lb_key(6));
			assert_int_equal(lb_dtype_of(x), floats[d]);
			assert_true(least(x) >= -1 && most(x) <= 1 && least(x) < -0.99 && most(x) > 0.99);
			assert_true(fabs(mean_of(x)) < 0.0073 && fabs(var_of(x) - 0.29112) < 0.005);
			lb_tensor *low = lb_from_data((float[]){ 1, -2 }, 8, LB_SHAPE(2, 1), LB_F32);
			lb_tensor *high = lb_from_data((float[]){ 3, -1 }, 8, LB_SHAPE(2, 1), LB_F32);
			x = lb_random_truncated_normal(low, high, LB_SHAPE(2, 1000), floats[d], lb_key(7));
			assert_int_equal(lb_item_int(lb_all(lb_logical_and(lb_greater_equal(x, low),
									   lb_less_equal(x, high)),
							    LB_ALL_AXES, false)),
					 1);
		}
}

/* mean + z R, with the root R of the covariance that is known: [[2,1],[1,2]], whose square is [[5,4],[4,5]]. */
static void several_at_once(void **state)
{
	(void)state;
	for (int d = 0; d < 4; d++)
		LB_SCOPE {
			bool is_double = floats[d] == LB_F64;
			double off = is_double ? 1e-12 : floats[d] == LB_F32 ? 1e-5 : 1e-1;
			lb_tensor *mean = lb_from_data((float[]){ 1, -3 }, 8, LB_SHAPE(2), LB_F32);
			lb_tensor *cov = lb_from_data((float[]){ 5, 4, 4, 5 }, 16, LB_SHAPE(2, 2), LB_F32);
			lb_tensor *z = lb_random_normal(LB_SHAPE(1000, 2), is_double ? LB_F64 : LB_F32, lb_key(10));
			lb_tensor *root = lb_from_data((float[]){ 2, 1, 1, 2 }, 16, LB_SHAPE(2, 2), LB_F32);
			lb_tensor *x = lb_random_multivariate_normal(mean, cov, LB_SHAPE(1000), floats[d], lb_key(10));
			lb_tensor *wanted = lb_add(lb_matmul(z, root), mean);
			assert_int_equal(lb_dtype_of(x), floats[d]);
			assert_true(lb_rank(x) == 2 && lb_dim(x, 0) == 1000 && lb_dim(x, 1) == 2);
			assert_true(most(lb_abs(lb_subtract(lb_astype(x, LB_F64), lb_astype(wanted, LB_F64)))) < off);
		}
	LB_SCOPE { /* batches broadcast; of rank 1 all is on a line */
		lb_tensor *mean = lb_reshape(lb_arange(0, 6, 1, LB_F32), LB_SHAPE(3, 1, 2));
		lb_tensor *ones = lb_ones(LB_SHAPE(4, 2, 2), LB_F64);
		lb_tensor *x = lb_random_multivariate_normal(mean, ones, LB_SHAPE(), LB_F32, lb_key(11));
		assert_true(lb_rank(x) == 3 && lb_dim(x, 0) == 3 && lb_dim(x, 1) == 4 && lb_dim(x, 2) == 2);
		lb_tensor *off = lb_diff(lb_subtract(x, mean), 1, -1);
		assert_true(most(lb_abs(off)) < 1e-5 && var_of(lb_subtract(x, mean)) > 0.1);
		mean = lb_zeros(LB_SHAPE(0), LB_F32);
		x = lb_random_multivariate_normal(mean, lb_zeros(LB_SHAPE(0, 0), LB_F32), LB_SHAPE(5), LB_F32,
						  lb_key(1));
		assert_true(lb_eval(x) && lb_size(x) == 0 && lb_dim(x, 0) == 5);
	}
}

static void permutations(void **state)
{
	(void)state;
	LB_SCOPE {
		enum { N = 1000 };
		lb_tensor *order = lb_random_permutation(N, lb_key(8)), *all = lb_arange(0, N, 1, LB_U32);
		assert_int_equal(lb_dtype_of(order), LB_U32);
		assert_true(same(lb_sort(order, 0), all));
		assert_true(same(order, lb_random_permutation(N, lb_key(8))));
		assert_false(same(order, all));
		assert_false(same(order, lb_random_permutation(N, lb_key(9))));
		assert_int_equal(lb_size(lb_random_permutation(0, lb_key(1))), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(uniform),    TEST(normal),        TEST(normal_complex),  TEST(a_key_is_the_numbers),
		TEST(split_keys), TEST(distributions), TEST(several_at_once), TEST(permutations),
	};
	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
