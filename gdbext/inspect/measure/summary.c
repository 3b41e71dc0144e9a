/* How it stays at memory speed: elements are taken in blocks that fit the first-level cache, each read a few times by
 * simple loops that compilers vectorise.
 *
 *   - A first loop over a block's bits finds the smallest magnitude, and the smallest and the largest number. IEEE 754
 *     orders magnitudes as integers, which unlike floats need no care for NaN.
 *   - Only where these say that a block holds NaN, Inf, zeros, denormals or huge values, further loops count them; their
 *     first index is searched for once.
 *   - Sums are in double, of distances from the block's first value where these are much smaller than the values, and
 *     blocks are merged by Chan's formula: a large mean does not swallow a small deviation. */
#include "inspect/measure/summary.h"

#include <math.h>
#include <string.h>

#include "inspect/measure/passes.h"
#include "inspect/measure/widen.h"

enum { BLOCK = LBX_PASS_BLOCK };

void lbx_summary_init(struct lbx_summary *s, enum lb_dtype dtype)
{
	*s = (struct lbx_summary){ .dtype = dtype, .argmin = -1, .argmax = -1 };
	for (int i = 0; i < LBX_SPECIALS; i++)
		s->first[i] = -1;
}

/* Adds n finite values by their sums around k: Chan, Golub, LeVeque (1979). */
static void merge(struct lbx_summary *s, int64_t n, long double k, long double sum, long double squares)
{
	if (n == 0)
		return;
	long double mean = k + sum / n, m2 = squares - sum * (sum / n);
	long double delta = mean - s->mean, all = (long double)s->finite + n;

	if (m2 < 0)
		m2 = 0;
	if (s->finite == 0) {
		s->mean = mean;
		s->m2 = m2;
	} else {
		s->mean += delta * (n / all);
		s->m2 += m2 + delta * delta * (s->finite * (n / all));
	}
	s->finite += n;
	s->sum += k * n + sum;
}

static void count(struct lbx_summary *s, enum lbx_special kind, int64_t n, int64_t first)
{
	if (n && s->first[kind] < 0)
		s->first[kind] = first;
	s->special[kind] += n;
}

/* Limits of the kinds, as bits of a magnitude. */
struct limits {
	int64_t normal, over, inf;
};

#define BLOCKS(T, value_t, bits_t) \
	static value_t from_bits_##T(int64_t bits) \
	{ \
		bits_t b = (bits_t)bits; \
		value_t x; \
		memcpy(&x, &b, sizeof x); \
		return x; \
	} \
	/* The first that has a magnitude in [from, to). */ \
	static int find_##T(const value_t *x, int n, int64_t from, int64_t to) \
	{ \
		for (int i = 0; i < n; i++) { \
			bits_t b; \
			memcpy(&b, &x[i], sizeof b); \
			b &= sizeof b == 4 ? (bits_t)INT32_MAX : (bits_t)INT64_MAX; \
			if (b >= (bits_t)from && (uint64_t)b < (uint64_t)to) \
				return i; \
		} \
		return 0; \
	} \
	static int find_value_##T(const value_t *x, int n, value_t value) \
	{ \
		for (int i = 0; i < n; i++) \
			if (x[i] == value) \
				return i; \
		return 0; \
	} \
	/* Those of `found` that have a magnitude in [from, to). */ \
	static void count_##T(struct lbx_summary *s, enum lbx_special kind, int64_t found, const value_t *x, int n, \
			      int64_t first, int64_t from, int64_t to) \
	{ \
		if (found) \
			count(s, kind, found, s->first[kind] < 0 ? first + find_##T(x, n, from, to) : 0); \
	} \
	static void count_value_##T(struct lbx_summary *s, enum lbx_special kind, int64_t found, const value_t *x, \
				    int n, int64_t first, value_t value) \
	{ \
		if (found) \
			count(s, kind, found, s->first[kind] < 0 ? first + find_value_##T(x, n, value) : 0); \
	} \
	static void extremes_##T(struct lbx_summary *s, const value_t *x, int n, int64_t first, value_t low, \
				 value_t high) \
	{ \
		if (s->argmin < 0 || low < s->min) { \
			s->min = low; \
			s->argmin = first + find_value_##T(x, n, low); \
		} \
		if (s->argmax < 0 || high > s->max) { \
			s->max = high; \
			s->argmax = first + find_value_##T(x, n, high); \
		} \
	} \
	static void block_##T(struct lbx_summary *s, const struct lbx_passes_##T *passes, const struct limits *limits, \
			      const value_t *x, int n, int64_t first, bool more) \
	{ \
		struct lbx_extent range; \
		struct lbx_not_finite odd = { 0 }; \
		struct lbx_moments moments; \
		value_t masked[BLOCK], k = x[0]; \
		const value_t *finite = x; \
		if (!passes->look(x, n, more, &range, &moments)) { \
			k = x[find_##T(x, n, 0, limits->inf)]; \
			k = isfinite(k) ? k : 0; \
			passes->mask(x, n, k, masked, &odd); \
			finite = masked; \
			count_##T(s, LBX_NAN, odd.nan, x, n, first, limits->inf + 1, INT64_MAX); \
			count_value_##T(s, LBX_POSITIVE_INF, odd.above, x, n, first, (value_t)INFINITY); \
			count_value_##T(s, LBX_NEGATIVE_INF, odd.below, x, n, first, (value_t) - INFINITY); \
		} \
		if (range.least < limits->normal) { \
			struct lbx_zeros z = { 0, range.least }; \
			if (range.least == 0) \
				passes->zeros(x, n, &z); \
			count_##T(s, LBX_ZERO, z.zeros, x, n, first, 0, 1); \
			if (z.least < limits->normal) \
				count_##T(s, LBX_DENORMAL, passes->less(x, n, limits->normal) - z.zeros, x, n, first, \
					  1, limits->normal); \
		} \
		int64_t n_odd = odd.nan + odd.above + odd.below; \
		if (range.most >= limits->over) \
			count_##T(s, LBX_OVER_F16, n - n_odd - passes->less(x, n, limits->over), x, n, first, \
				  limits->over, limits->inf); \
		value_t low = from_bits_##T(range.min), high = from_bits_##T(range.max); \
		if (n_odd == n) { \
			low = (value_t)INFINITY; \
			high = (value_t) - INFINITY; \
		} else if (n_odd > 0) { \
			passes->range(masked, n, &range); \
			low = from_bits_##T(range.min); \
			high = from_bits_##T(range.max); \
		} \
		if (odd.nan < n) \
			extremes_##T(s, x, n, first, odd.below ? (value_t) - INFINITY : low, \
				     odd.above ? (value_t)INFINITY : high); \
		/* around 0, unless the sum of squares loses more than ten bits by it; what is masked adds nothing */ \
		if (n_odd > 0 || moments.q - moments.s * moments.s / n < moments.q / 1024) \
			passes->moments(finite, n, k, &moments); \
		else \
			k = 0; \
		long double sum = moments.s, squares = moments.q; \
		if (!isfinite(moments.s) || !isfinite(moments.q)) { /* of numbers near the limits of double */ \
			sum = squares = 0; \
			for (int i = 0; i < n; i++) { \
				long double d = (long double)finite[i] - k; \
				sum += d; \
				squares += d * d; \
			} \
		} \
		merge(s, n - n_odd, k, sum, squares); \
	}
BLOCKS(f32, float, int32_t)
BLOCKS(f64, double, int64_t)

/* 65504 is the largest f16: the next float and double over it. */
static const struct limits limits_f32 = { 0x00800000, 0x477fe001, 0x7f800000 };
static const struct limits limits_f64 = { 0x0010000000000000, 0x40effc0000000001, 0x7ff0000000000000 };

static void add_halves(struct lbx_summary *s, const struct lbx_passes *passes, const uint16_t *h, int n, int64_t first)
{
	struct limits limits = limits_f32;
	float wide[BLOCK];

	if (s->dtype == LB_F16)
		limits.normal = 0x38800000; /* 2^-14 */
	lbx_widen_halves(s->dtype, h, n, wide);
	block_f32(s, &passes->f32, &limits, wide, n, first, false);
}

static void add_small_integers(struct lbx_summary *s, const struct lbx_passes *passes, const void *from, int n,
			       int64_t first)
{
	double wide[BLOCK];

	lbx_widen(s->dtype, from, n, wide);
	block_f64(s, &passes->f64, &limits_f64, wide, n, first, false);
	s->int_min = (int64_t)s->min;
	s->int_max = (int64_t)s->max;
}

/* 64-bit integers keep their exact extremes; their sums are of doubles. */
static void add_large_integers(struct lbx_summary *s, const int64_t *x, int n, int64_t first)
{
	/* flipping the sign bit orders uint64 as int64 */
	const int64_t flip = s->dtype == LB_U64 ? INT64_MIN : 0;
	int64_t low = INT64_MAX, high = INT64_MIN, zeros = 0, over = 0;
	double values[BLOCK], sum = 0, squares = 0;

	for (int i = 0; i < n; i++)
		values[i] = flip ? (double)(uint64_t)x[i] : (double)x[i];
	for (int i = 0; i < n; i++) {
		int64_t key = x[i] ^ flip;
		low = key < low ? key : low;
		high = key > high ? key : high;
		zeros += x[i] == 0;
	}
	for (int i = 0; i < n; i++) {
		double d = values[i] - values[0];
		sum += d;
		squares += d * d;
		over += fabs(values[i]) > 65504;
	}
	bool lower = s->argmin < 0 || low < (s->int_min ^ flip);
	bool higher = s->argmax < 0 || high > (s->int_max ^ flip);
	for (int i = n - 1; i >= 0; i--) {
		if (lower && (x[i] ^ flip) == low)
			s->argmin = first + i;
		if (higher && (x[i] ^ flip) == high)
			s->argmax = first + i;
	}
	if (lower) {
		s->int_min = low ^ flip;
		s->min = flip ? (double)(uint64_t)s->int_min : (double)s->int_min;
	}
	if (higher) {
		s->int_max = high ^ flip;
		s->max = flip ? (double)(uint64_t)s->int_max : (double)s->int_max;
	}
	int64_t zero_at = -1, over_at = -1;
	if ((zeros && s->first[LBX_ZERO] < 0) || (over && s->first[LBX_OVER_F16] < 0)) {
		for (int i = n - 1; i >= 0; i--) {
			zero_at = x[i] == 0 ? first + i : zero_at;
			over_at = fabs(values[i]) > 65504 ? first + i : over_at;
		}
	}
	count(s, LBX_ZERO, zeros, zero_at);
	count(s, LBX_OVER_F16, over, over_at);
	merge(s, n, values[0], sum, squares);
}

void lbx_summary_add(struct lbx_summary *s, const void *elements, int64_t n, int64_t first)
{
	const struct lbx_passes *passes = lbx_passes();
	int64_t width = lbx_dtype_bytes(s->dtype), aligned[BLOCK];
	float wide[BLOCK];

	for (int64_t done = 0; done < n; done += BLOCK) {
		int m = n - done < BLOCK ? (int)(n - done) : BLOCK;
		bool more = n - done > BLOCK;
		const void *from = (const char *)elements + done * width;
		if ((uintptr_t)from % (size_t)width)
			from = memcpy(aligned, from, (size_t)(m * width));
		switch (s->dtype) {
		case LB_F16:
		case LB_BF16: add_halves(s, passes, from, m, first + done); break;
		case LB_F32: block_f32(s, &passes->f32, &limits_f32, from, m, first + done, more); break;
		case LB_C64:
			passes->absolute(from, m, wide);
			block_f32(s, &passes->f32, &limits_f32, wide, m, first + done, false);
			break;
		case LB_F64: block_f64(s, &passes->f64, &limits_f64, from, m, first + done, more); break;
		case LB_U64:
		case LB_I64: add_large_integers(s, from, m, first + done); break;
		default: add_small_integers(s, passes, from, m, first + done); break;
		}
	}
	s->count += n;
}

void lbx_summary_merge(struct lbx_summary *s, const struct lbx_summary *after)
{
	bool integers = s->dtype < LB_F16, flip = s->dtype == LB_U64;
	int64_t sign = flip ? INT64_MIN : 0;
	bool lower = integers ? (after->int_min ^ sign) < (s->int_min ^ sign) : after->min < s->min;
	bool higher = integers ? (after->int_max ^ sign) > (s->int_max ^ sign) : after->max > s->max;
	long double sum = s->sum + after->sum;

	if (after->argmin >= 0 && (s->argmin < 0 || lower)) {
		s->min = after->min;
		s->int_min = after->int_min;
		s->argmin = after->argmin;
	}
	if (after->argmax >= 0 && (s->argmax < 0 || higher)) {
		s->max = after->max;
		s->int_max = after->int_max;
		s->argmax = after->argmax;
	}
	for (int i = 0; i < LBX_SPECIALS; i++)
		count(s, i, after->special[i], after->first[i]);
	merge(s, after->finite, after->mean, 0, after->m2);
	s->sum = sum;
	s->count += after->count;
}

void lbx_summary_repeat(struct lbx_summary *s, int64_t times)
{
	s->count *= times;
	s->finite *= times;
	for (int i = 0; i < LBX_SPECIALS; i++)
		s->special[i] *= times;
	s->sum *= times;
	s->m2 *= times;
}

double lbx_summary_std(const struct lbx_summary *s)
{
	return s->finite ? (double)sqrtl(s->m2 / s->finite) : NAN;
}

double lbx_summary_l2(const struct lbx_summary *s)
{
	return s->finite ? (double)sqrtl(s->m2 + s->mean * s->mean * s->finite) : 0;
}
