/* Statistics against loops that do nothing clever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/measure/blocks.h"
#include "inspect/measure/codes.h"
#include "inspect/measure/quantile.h"
#include "inspect/measure/summary.h"
#include "inspect/tensor/array.h"
#include "kernels/half.h"
#include "kernels/kernels.h"

static uint64_t random_bits(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static double normal_limit(enum lb_dtype dtype)
{
	return dtype == LB_F16 ? 0x1p-14 : dtype == LB_F64 ? 0x1p-1022 : 0x1p-126;
}

struct reference {
	int64_t special[LBX_SPECIALS], first[LBX_SPECIALS], argmin, argmax, finite;
	double min, max;
	long double sum, mean, m2;
};

static double value_of(const char *e, enum lb_dtype dtype)
{
	double x = lbx_element_double(e, dtype);
	return dtype == LB_C64 ? (float)hypot(x, lbx_element_double(e + 4, LB_F32)) : x;
}

static struct reference straightforward(const char *e, int64_t n, enum lb_dtype dtype)
{
	struct reference r = { .argmin = -1, .argmax = -1 };

	for (int k = 0; k < LBX_SPECIALS; k++)
		r.first[k] = -1;
	for (int64_t i = 0; i < n; i++) {
		double x = value_of(e + i * lbx_dtype_bytes(dtype), dtype);
		bool is[LBX_SPECIALS] = {
			[LBX_NAN] = isnan(x),
			[LBX_POSITIVE_INF] = isinf(x) && x > 0,
			[LBX_NEGATIVE_INF] = isinf(x) && x < 0,
			[LBX_ZERO] = x == 0,
			[LBX_DENORMAL] = x != 0 && fabs(x) < normal_limit(dtype) && dtype >= LB_F16,
			[LBX_OVER_F16] = isfinite(x) && fabs(x) > 65504,
		};
		for (int k = 0; k < LBX_SPECIALS; k++) {
			if (is[k] && r.special[k]++ == 0)
				r.first[k] = i;
		}
		if (!isnan(x) && (r.argmin < 0 || x < r.min)) {
			r.min = x;
			r.argmin = i;
		}
		if (!isnan(x) && (r.argmax < 0 || x > r.max)) {
			r.max = x;
			r.argmax = i;
		}
		if (isfinite(x)) {
			r.finite++;
			r.sum += x;
		}
	}
	r.mean = r.finite ? r.sum / r.finite : 0;
	for (int64_t i = 0; i < n; i++) {
		double x = value_of(e + i * lbx_dtype_bytes(dtype), dtype);
		if (isfinite(x))
			r.m2 += (x - r.mean) * (x - r.mean);
	}
	return r;
}

static void near(long double a, long double b, long double scale)
{
	if (isfinite(b) && isfinite(scale) && fabsl(a - b) > 1e-9L * scale)
		fail_msg("%Lg is not %Lg", a, b);
}

static void compare(const char *e, int64_t n, enum lb_dtype dtype, int64_t piece)
{
	struct reference r = straightforward(e, n, dtype);
	struct lbx_summary s;

	lbx_summary_init(&s, dtype);
	for (int64_t i = 0; i < n; i += piece)
		lbx_summary_add(&s, e + i * lbx_dtype_bytes(dtype), n - i < piece ? n - i : piece, i);
	assert_int_equal(s.count, n);
	assert_int_equal(s.finite, r.finite);
	for (int k = 0; k < LBX_SPECIALS; k++) {
		assert_int_equal(s.special[k], r.special[k]);
		assert_int_equal(s.first[k], r.first[k]);
	}
	/* integers beyond 2^53 are compared exactly by the summary, not by the reference */
	if (lbx_dtype_bytes(dtype) < 8 || dtype >= LB_F16) {
		assert_int_equal(s.argmin, r.argmin);
		assert_int_equal(s.argmax, r.argmax);
	}
	if (r.argmin >= 0) {
		assert_true(s.min == r.min);
		assert_true(s.max == r.max);
	}
	if (r.finite) {
		long double deviation = sqrtl(r.m2 / r.finite);
		near(s.mean, r.mean, fabsl(r.mean) + deviation);
		near(s.sum, r.sum, (fabsl(r.mean) + deviation) * r.finite);
		near(lbx_summary_std(&s), deviation, deviation + fabsl(r.mean) * 1e-4L);
	}
}

/* Any bits: NaN, Inf and denormals of every kind. */
static void any_bits(void **state)
{
	static const int64_t sizes[] = { 1, 2, 15, 16, 17, 100, 4095, 4096, 4097, 20000 };
	uint64_t seed = 42, *bytes = malloc(20001 * 8);

	(void)state;
	for (int dtype = 0; dtype < LB_DTYPES; dtype++) {
		for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
			for (int64_t i = 0; i < sizes[k] + 1; i++)
				bytes[i] = random_bits(&seed);
			compare((char *)bytes, sizes[k], dtype, 5000);
			compare((char *)bytes + 1, sizes[k], dtype, 20000); /* not aligned */
		}
	}
	free(bytes);
}

/* Ordinary values with a few special ones. */
static void ordinary(void **state)
{
	enum { N = 30000 };
	float *f = malloc(N * sizeof *f);
	uint16_t *h = malloc(N * sizeof *h);
	double *d = malloc(N * sizeof *d);
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 16; round++) {
		for (int i = 0; i < N; i++) {
			d[i] =
			    (double)(random_bits(&seed) >> 11) * 0x1p-53 + (round & 1 ? round & 8 ? -1e6 : 1e6 : -0.5);
			f[i] = (float)d[i];
		}
		if (round & 2) {
			f[12345] = NAN;
			d[777] = -INFINITY;
			f[29999] = -0.0f;
		}
		if (round & 4) {
			f[4096] = 1e-42f;
			d[8191] = 0;
			f[8192] = INFINITY;
		}
		compare((char *)f, N, LB_F32, 4096);
		compare((char *)d, N, LB_F64, N);
		for (int i = 0; i < N; i++)
			h[i] = lb_float_to_f16(f[i] / (round & 1 ? 100 : 1));
		compare((char *)h, N, LB_F16, N);
		for (int i = 0; i < N; i++)
			h[i] = lb_float_to_bf16(f[i]);
		compare((char *)h, N, LB_BF16, 7000);
		compare((char *)f, N / 2, LB_C64, 1000);
	}
	free(f);
	free(h);
	free(d);
}

static void exact_integers(void **state)
{
	uint64_t u[] = { 5, UINT64_MAX - 1, UINT64_MAX, 9007199254740993u, 0 };
	int64_t i[] = { INT64_MIN + 1, INT64_MIN, 3, INT64_MAX };
	struct lbx_summary s;

	(void)state;
	lbx_summary_init(&s, LB_U64);
	lbx_summary_add(&s, u, 5, 0);
	assert_int_equal(s.argmax, 2);
	assert_true((uint64_t)s.int_max == UINT64_MAX);
	assert_int_equal(s.argmin, 4);
	lbx_summary_init(&s, LB_I64);
	lbx_summary_add(&s, i, 4, 0);
	assert_true(s.int_min == INT64_MIN && s.argmin == 1);
	assert_true(s.int_max == INT64_MAX && s.argmax == 3);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static void quantiles(void **state)
{
	enum { N = 1001 };
	double values[N], sorted[N];
	uint64_t seed = 3;
	struct lbx_sample s;
	int64_t bins[8], total = 0;
	double low, high;

	(void)state;
	for (int i = 0; i < N; i++)
		sorted[i] = values[i] = (double)(int64_t)random_bits(&seed) * 0x1p-40;
	qsort(sorted, N, sizeof *sorted, by_value);
	assert_true(lbx_sample_init(&s, LB_F64, N));
	lbx_sample_add(&s, values, 400, 0);
	lbx_sample_add(&s, values + 400, N - 400, 400);
	assert_true(lbx_sample_sort(&s));
	assert_int_equal(s.n, N);
	assert_memory_equal(s.values, sorted, sizeof sorted);
	assert_true(lbx_sample_quantile(&s, 0.5) == sorted[500]);
	assert_true(lbx_sample_quantile(&s, 0) == sorted[0]);
	assert_true(lbx_sample_quantile(&s, 1) == sorted[1000]);
	assert_true(fabs(lbx_sample_quantile(&s, 0.2505) - (sorted[250] + sorted[251]) / 2) < 1e-3);
	assert_true(lbx_sample_histogram(&s, 8, bins, &low, &high));
	for (int i = 0; i < 8; i++)
		total += bins[i];
	assert_int_equal(total, N);
	assert_true(low == sorted[0] && high == sorted[N - 1]);
	lbx_sample_deinit(&s);
}

/* A sample takes one value of each step, in order, whatever the pieces. */
static void sampling(void **state)
{
	const int64_t n = 3 * LBX_SAMPLE_MAX + 17;
	float *values = malloc((size_t)n * sizeof *values);
	struct lbx_sample s;

	(void)state;
	for (int64_t i = 0; i < n; i++)
		values[i] = (float)(i / 4);
	assert_true(lbx_sample_init(&s, LB_F32, n));
	assert_int_equal(s.step, 4);
	for (int64_t i = 0; i < n; i += 65536)
		lbx_sample_add(&s, values + i, n - i < 65536 ? n - i : 65536, i);
	assert_int_equal(s.n, n / 4);
	for (int64_t i = 0; i < s.n; i++)
		assert_true(s.values[i] == (float)i);
	lbx_sample_deinit(&s);
	free(values);
}

/* ---- blocks ---- */

enum { SOME = 3 * LBX_CODES_AT_ONCE + 768, VARIANTS = 6 };

/* Bytes of n blocks: any; with scales as weights have them; zeros; some blocks without a scale; all equal; small changes
 * of a large value. */
static void fill_blocks(int variant, const struct lb_block *b, int64_t n, uint64_t *random, uint8_t *to)
{
	for (int64_t i = 0; i < n * b->bytes; i++) {
		*random = *random * 6364136223846793005 + 1442695040888963407;
		uint8_t any = (uint8_t)(*random >> 56), small = (uint8_t)(0x20 + (*random >> 40) % 20);
		bool is_zero = variant == 2 || (variant == 3 && i / b->bytes % 3 == 1);
		to[i] = is_zero ? 0 : variant == 4 ? 0x3b : variant == 0 || i % 2 == 0 ? any : small;
		if (variant == 5 && b->bytes < 32) /* f16: the step, then the least value */
			to[i] = i % b->bytes == 0   ? 1
				: i % b->bytes == 1 ? 0x04
				: i % b->bytes == 2 ? 0
				: i % b->bytes == 3 ? 0x70
						    : any;
	}
}

static void near_sums(const char *name, int variant, long double a, long double b, long double size)
{
	if (!(fabsl(a - b) <= 1e-7L * fabsl(size)))
		fail_msg("%s, %d: %Lg instead of %Lg", name, variant, a, b);
}

/* Statistics of codes are those of the numbers that they stand for. */
static void of_codes(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (size_t f = 0; lbx_blocks_name(f); f++) {
		const struct lbx_encoding *e = lbx_encoding_of_blocks(lbx_blocks_name(f));
		const struct lb_block *b = &lb_blocks[e->kernel];
		int64_t n = SOME / b->elements;
		uint8_t *blocks = malloc((size_t)(n * b->bytes));
		float *values = malloc(SOME * sizeof *values);
		assert_true(blocks && values && lbx_encoding_has_codes(e) && n * b->elements == SOME);
		struct lbx_summary codes, numbers;
		lbx_summary_init(&codes, LB_F32);
		lbx_summary_init(&numbers, LB_F32);
		for (int variant = VARIANTS - 1; variant >= 0; variant--) {
			int64_t first = (VARIANTS - variant) * (int64_t)SOME;
			if (variant == 3) { /* what comes after has a first of each kind, too */
				lbx_summary_init(&codes, LB_F32);
				lbx_summary_init(&numbers, LB_F32);
			}
			fill_blocks(variant, b, n, &random, blocks);
			e->decode(e, blocks, n, values);
			lbx_summary_add(&numbers, values, SOME, first);
			lbx_summary_add_blocks(&codes, e, blocks, SOME, first);
			assert_int_equal(codes.count, numbers.count);
			assert_int_equal(codes.finite, numbers.finite);
			assert_memory_equal(codes.special, numbers.special, sizeof codes.special);
			assert_memory_equal(codes.first, numbers.first, sizeof codes.first);
			assert_int_equal(codes.argmin, numbers.argmin);
			assert_int_equal(codes.argmax, numbers.argmax);
			assert_true(codes.min == numbers.min && codes.max == numbers.max);
			long double l2 = lbx_summary_l2(&numbers), n_finite = numbers.finite;
			near_sums(e->name, variant, codes.mean, numbers.mean, l2 / sqrtl(n_finite + 1));
			near_sums(e->name, variant, codes.m2, numbers.m2, numbers.m2);
			near_sums(e->name, variant, codes.sum, numbers.sum, l2 * sqrtl(n_finite));
		}
		free(blocks);
		free(values);
	}
}

/* The same with the loops of every lower instruction set; the level is chosen once a process. */
static void lower_levels(void **state)
{
	static const char *const levels[] = { "base", "v3" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		int status;
		pid_t pid = fork();
		if (pid == 0) {
			setenv("LAZYBONES_ISA", levels[i], 1);
			any_bits(NULL);
			ordinary(NULL);
			of_codes(NULL);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lower_levels),   cmocka_unit_test(any_bits),  cmocka_unit_test(ordinary),
		cmocka_unit_test(exact_integers), cmocka_unit_test(quantiles), cmocka_unit_test(sampling),
		cmocka_unit_test(of_codes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
