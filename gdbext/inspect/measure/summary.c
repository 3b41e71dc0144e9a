/* How it stays at memory speed: elements are taken in blocks that fit the first-level cache,
 * each read a few times by simple loops that compilers vectorise.
 *
 *   - A first loop over a block's bits counts zeros, and finds the smallest and largest magnitude and value.
 *     IEEE 754 orders numbers as sign-magnitude integers, so integer minima do it, which
 *     unlike those of floats need no care for NaN.
 *   - Only when these extremes say that a block holds NaN, Inf, denormals or huge
 *     values, further loops count them; their first index is searched for once.
 *   - Sums are of distances from the block's first value, in double, and blocks are merged
 *     by Chan's formula: a large mean does not swallow a small deviation.
 *
 * Each kernel is compiled for several instruction sets and chosen when it runs. */
#include "inspect/measure/summary.h"

#include <math.h>
#include <string.h>

#include "inspect/measure/isa.h"
#include "inspect/measure/widen.h"

enum { BLOCK = 4096, LANES = 16 };

struct extremes {
	int64_t key_min, key_max; /* ordered bits, of what is not NaN */
	int64_t abs_min, abs_max; /* bits without the sign, the smallest of what is not zero */
	int64_t zeros;
};

struct moments {
	double s, q; /* sums of x - k and of its square */
};

typedef double doubles_4 __attribute__((vector_size(4 * sizeof(double))));
typedef double doubles_8 __attribute__((vector_size(8 * sizeof(double))));
typedef float floats_4 __attribute__((vector_size(4 * sizeof(float))));
typedef float floats_8 __attribute__((vector_size(8 * sizeof(float))));

INLINE double add_up(const double *lanes)
{
	double two[8];

	for (int i = 0; i < 8; i++)
		two[i] = lanes[i] + lanes[i + 8];
	return ((two[0] + two[1]) + (two[2] + two[3])) + ((two[4] + two[5]) + (two[6] + two[7]));
}

/* What differs between float and double: the bits' type. Conditions are bits, all or none: compilers make vectors of those. */
#define KERNELS(T, value_t, bits_t, INF_BITS) \
	INLINE void extremes_##T(const value_t *x, int n, struct extremes *ret) \
	{ \
		const bits_t magnitude = (bits_t)((sizeof(bits_t) == 4 ? INT32_MAX : INT64_MAX)); \
		const int sign = sizeof(bits_t) * 8 - 1; \
		bits_t low = magnitude, high = -magnitude - 1, least = magnitude, most = 0, zeros = 0; \
		for (int i = 0; i < n; i++) { \
			bits_t b; \
			memcpy(&b, &x[i], sizeof b); \
			bits_t a = b & magnitude; \
			bits_t key = b ^ ((b >> sign) & magnitude); \
			bits_t is_zero = (a - 1) >> sign; \
			bits_t other = a | (is_zero & magnitude); \
			zeros -= is_zero; \
			least = other < least ? other : least; \
			most = a > most ? a : most; \
			low = key < low ? key : low; \
			high = key > high ? key : high; \
		} \
		*ret = (struct extremes){ low, high, least, most, zeros }; \
	} \
	/* Replaces what is not finite by k, so that the sums need not look; NaN leaves the keys. */ \
	INLINE void mask_##T(const value_t *restrict x, int n, value_t k, value_t *restrict to, struct extremes *e, \
			     int64_t counts[3]) \
	{ \
		const bits_t magnitude = (bits_t)((sizeof(bits_t) == 4 ? INT32_MAX : INT64_MAX)); \
		const bits_t inf = (bits_t)INF_BITS; \
		const int sign = sizeof(bits_t) * 8 - 1; \
		bits_t low = magnitude, high = -magnitude - 1, nan = 0, above = 0, below = 0, instead; \
		memcpy(&instead, &k, sizeof k); \
		for (int i = 0; i < n; i++) { \
			bits_t b; \
			memcpy(&b, &x[i], sizeof b); \
			bits_t a = b & magnitude; \
			bits_t key = b ^ ((b >> sign) & magnitude); \
			bits_t is_nan = (inf - a) >> sign, is_not = (inf - 1 - a) >> sign; \
			bits_t key_low = (key & ~is_nan) | (magnitude & is_nan); \
			bits_t key_high = (key & ~is_nan) | ((-magnitude - 1) & is_nan); \
			nan -= is_nan; \
			above += (bits_t)(b == inf); \
			below += (bits_t)(b == (inf | (-magnitude - 1))); \
			low = key_low < low ? key_low : low; \
			high = key_high > high ? key_high : high; \
			b = (b & ~is_not) | (instead & is_not); \
			memcpy(&to[i], &b, sizeof b); \
		} \
		e->key_min = low; \
		e->key_max = high; \
		counts[0] = nan; \
		counts[1] = above; \
		counts[2] = below; \
	} \
	/* How many magnitudes lie in [from, to). */ \
	INLINE int64_t between_##T(const value_t *x, int n, int64_t from, int64_t to) \
	{ \
		const bits_t magnitude = (bits_t)((sizeof(bits_t) == 4 ? INT32_MAX : INT64_MAX)); \
		bits_t first = (bits_t)from, end = (bits_t)to, count = 0; \
		for (int i = 0; i < n; i++) { \
			bits_t a; \
			memcpy(&a, &x[i], sizeof a); \
			a &= magnitude; \
			count += (bits_t)(a >= first) & (bits_t)(a < end); \
		} \
		return count; \
	}
KERNELS(f32, float, int32_t, 0x7f800000)
KERNELS(f64, double, int64_t, 0x7ff0000000000000)

/* Sums of x - k in sixteen lanes, of vectors of `width` doubles: of the registers' width, since wider ones live in
 * memory. The lanes are added up in one order, whatever the width. */
#define MOMENTS(name, value_t, loaded_t, doubles, width) \
	INLINE struct moments name(const value_t *x, int n, double k) \
	{ \
		doubles s[LANES / width], q[LANES / width], ks = k - (doubles){ 0 }; \
		double sums[LANES], squares[LANES]; \
		int i = 0; \
		memset(s, 0, sizeof s); \
		memset(q, 0, sizeof q); \
		for (; i + LANES <= n; i += LANES) { \
			__builtin_prefetch(x + BLOCK + i); /* the next block: beyond a page nothing looks ahead */ \
			for (int v = 0; v < LANES / width; v++) { \
				loaded_t a; \
				memcpy(&a, x + i + v * width, sizeof a); \
				doubles d = __builtin_convertvector(a, doubles) - ks; \
				s[v] += d; \
				q[v] += d * d; \
			} \
		} \
		memcpy(sums, s, sizeof s); \
		memcpy(squares, q, sizeof q); \
		struct moments m = { add_up(sums), add_up(squares) }; \
		for (; i < n; i++) { \
			double d = (double)x[i] - k; \
			m.s += d; \
			m.q += d * d; \
		} \
		return m; \
	}
MOMENTS(moments_f32_4, float, floats_4, doubles_4, 4)
MOMENTS(moments_f64_4, double, doubles_4, doubles_4, 4)
MOMENTS(moments_f32_8, float, floats_8, doubles_8, 8)
MOMENTS(moments_f64_8, double, doubles_8, doubles_8, 8)

INLINE void magnitudes(const float *from, int n, float *to)
{
	for (int i = 0; i < n; i++) {
		float re = from[2 * i], im = from[2 * i + 1];
		double m = sqrt((double)re * re + (double)im * im); /* no overflow in double */
		to[i] = isinf(re) | isinf(im) ? INFINITY : (float)m;
	}
}

struct kernels {
	void (*extremes_f32)(const float *, int, struct extremes *);
	void (*extremes_f64)(const double *, int, struct extremes *);
	void (*mask_f32)(const float *, int, float, float *, struct extremes *, int64_t[3]);
	void (*mask_f64)(const double *, int, double, double *, struct extremes *, int64_t[3]);
	int64_t (*between_f32)(const float *, int, int64_t, int64_t);
	int64_t (*between_f64)(const double *, int, int64_t, int64_t);
	struct moments (*moments_f32)(const float *, int, double);
	struct moments (*moments_f64)(const double *, int, double);
	void (*magnitudes)(const float *, int, float *);
};

#define LEVEL(isa, attribute, width) \
	attribute static void extremes_f32_##isa(const float *x, int n, struct extremes *ret) \
	{ \
		extremes_f32(x, n, ret); \
	} \
	attribute static void extremes_f64_##isa(const double *x, int n, struct extremes *ret) \
	{ \
		extremes_f64(x, n, ret); \
	} \
	attribute static void mask_f32_##isa(const float *x, int n, float k, float *to, struct extremes *e, \
					     int64_t counts[3]) \
	{ \
		mask_f32(x, n, k, to, e, counts); \
	} \
	attribute static void mask_f64_##isa(const double *x, int n, double k, double *to, struct extremes *e, \
					     int64_t counts[3]) \
	{ \
		mask_f64(x, n, k, to, e, counts); \
	} \
	attribute static int64_t between_f32_##isa(const float *x, int n, int64_t from, int64_t to) \
	{ \
		return between_f32(x, n, from, to); \
	} \
	attribute static int64_t between_f64_##isa(const double *x, int n, int64_t from, int64_t to) \
	{ \
		return between_f64(x, n, from, to); \
	} \
	attribute static struct moments moments_f32_##isa(const float *x, int n, double k) \
	{ \
		return moments_f32_##width(x, n, k); \
	} \
	attribute static struct moments moments_f64_##isa(const double *x, int n, double k) \
	{ \
		return moments_f64_##width(x, n, k); \
	} \
	attribute static void magnitudes_##isa(const float *x, int n, float *to) \
	{ \
		magnitudes(x, n, to); \
	} \
	static const struct kernels kernels_##isa = { \
		extremes_f32_##isa, extremes_f64_##isa, mask_f32_##isa,    mask_f64_##isa,   between_f32_##isa, \
		between_f64_##isa,  moments_f32_##isa,  moments_f64_##isa, magnitudes_##isa, \
	};
LEVEL(base, , 4)
#ifdef __x86_64__
LEVEL(v3, LBX_ISA_V3, 4)
LEVEL(v4, LBX_ISA_V4, 8)
#endif

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
	static int64_t find_##T(const value_t *x, int n, int64_t from, int64_t to) \
	{ \
		for (int i = 0; i < n; i++) { \
			bits_t b; \
			memcpy(&b, &x[i], sizeof b); \
			b &= sizeof b == 4 ? (bits_t)INT32_MAX : (bits_t)INT64_MAX; \
			if (b >= (bits_t)from && b < (bits_t)to) \
				return i; \
		} \
		return 0; \
	} \
	static int64_t find_value_##T(const value_t *x, int n, value_t value) \
	{ \
		for (int i = 0; i < n; i++) \
			if (x[i] == value) \
				return i; \
		return 0; \
	} \
	static value_t from_key_##T(int64_t key) \
	{ \
		bits_t b = (bits_t)key; \
		b ^= (b >> (sizeof b * 8 - 1)) & (sizeof b == 4 ? (bits_t)INT32_MAX : (bits_t)INT64_MAX); \
		value_t x; \
		memcpy(&x, &b, sizeof x); \
		return x; \
	} \
	static void special_##T(struct lbx_summary *s, const struct kernels *k, const value_t *x, int n, \
				int64_t first, enum lbx_special kind, int64_t from, int64_t to) \
	{ \
		int64_t found = k->between_##T(x, n, from, to); \
		if (found) \
			count(s, kind, found, s->first[kind] < 0 ? first + find_##T(x, n, from, to) : 0); \
	} \
	static void block_##T(struct lbx_summary *s, const struct kernels *kernels, const struct limits *limits, \
			      const value_t *x, int n, int64_t first) \
	{ \
		struct extremes e; \
		value_t masked[BLOCK], k = x[0]; \
		const value_t *finite = x; \
		int64_t counts[3] = { 0 }; \
		kernels->extremes_##T(x, n, &e); \
		if (e.abs_max >= limits->inf) { \
			int i = (int)find_##T(x, n, 0, limits->inf); \
			k = isfinite(x[i]) ? x[i] : 0; \
			kernels->mask_##T(x, n, k, masked, &e, counts); \
			finite = masked; \
			if (counts[0]) \
				count(s, LBX_NAN, counts[0], \
				      first + find_##T(x, n, limits->inf + 1, INT64_MAX >> (64 - 8 * sizeof *x))); \
			if (counts[1]) \
				count(s, LBX_POSITIVE_INF, counts[1], \
				      first + find_value_##T(x, n, (value_t)INFINITY)); \
			if (counts[2]) \
				count(s, LBX_NEGATIVE_INF, counts[2], \
				      first + find_value_##T(x, n, (value_t) - INFINITY)); \
		} \
		if (e.zeros) \
			count(s, LBX_ZERO, e.zeros, s->first[LBX_ZERO] < 0 ? first + find_##T(x, n, 0, 1) : 0); \
		if (e.abs_min < limits->normal) \
			special_##T(s, kernels, x, n, first, LBX_DENORMAL, 1, limits->normal); \
		if (e.abs_max >= limits->over) \
			special_##T(s, kernels, x, n, first, LBX_OVER_F16, limits->over, limits->inf); \
		if (counts[0] < n) { \
			value_t low = from_key_##T(e.key_min), high = from_key_##T(e.key_max); \
			if (s->argmin < 0 || low < s->min) { \
				s->min = low; \
				s->argmin = first + find_value_##T(x, n, low); \
			} \
			if (s->argmax < 0 || high > s->max) { \
				s->max = high; \
				s->argmax = first + find_value_##T(x, n, high); \
			} \
		} \
		/* what is masked adds nothing to either sum */ \
		struct moments m = kernels->moments_##T(finite, n, k); \
		long double sum = m.s, squares = m.q; \
		if (!isfinite(m.s) || !isfinite(m.q)) { /* of numbers near the limits of double */ \
			sum = squares = 0; \
			for (int i = 0; i < n; i++) { \
				long double d = (long double)finite[i] - k; \
				sum += d; \
				squares += d * d; \
			} \
		} \
		merge(s, n - counts[0] - counts[1] - counts[2], k, sum, squares); \
	}
BLOCKS(f32, float, int32_t)
BLOCKS(f64, double, int64_t)

/* 65504 is the largest f16: the next float and double over it. */
static const struct limits limits_f32 = { 0x00800000, 0x477fe001, 0x7f800000 };
static const struct limits limits_f64 = { 0x0010000000000000, 0x40effc0000000001, 0x7ff0000000000000 };

static void add_halves(struct lbx_summary *s, const struct kernels *k, const uint16_t *h, int n, int64_t first)
{
	struct limits limits = limits_f32;
	float wide[BLOCK];

	if (s->dtype == LB_F16)
		limits.normal = 0x38800000; /* 2^-14 */
	lbx_widen_halves(s->dtype, h, n, wide);
	block_f32(s, k, &limits, wide, n, first);
}

static void add_small_integers(struct lbx_summary *s, const struct kernels *k, const void *from, int n, int64_t first)
{
	double wide[BLOCK];

	lbx_widen(s->dtype, from, n, wide);
	block_f64(s, k, &limits_f64, wide, n, first);
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
	const struct kernels *kernels = LBX_ISA_CHOOSE(kernels);
	int64_t width = lbx_dtype_bytes(s->dtype), aligned[BLOCK];
	float wide[BLOCK];

	for (int64_t done = 0; done < n; done += BLOCK) {
		int m = n - done < BLOCK ? (int)(n - done) : BLOCK;
		const void *from = (const char *)elements + done * width;
		if ((uintptr_t)from % (size_t)width)
			from = memcpy(aligned, from, (size_t)(m * width));
		switch (s->dtype) {
		case LB_F16:
		case LB_BF16: add_halves(s, kernels, from, m, first + done); break;
		case LB_F32: block_f32(s, kernels, &limits_f32, from, m, first + done); break;
		case LB_C64:
			kernels->magnitudes(from, m, wide);
			block_f32(s, kernels, &limits_f32, wide, m, first + done);
			break;
		case LB_F64: block_f64(s, kernels, &limits_f64, from, m, first + done); break;
		case LB_U64:
		case LB_I64: add_large_integers(s, from, m, first + done); break;
		default: add_small_integers(s, kernels, from, m, first + done); break;
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
