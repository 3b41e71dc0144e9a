#include "inspect/measure/passes.h"

#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "inspect/measure/isa.h"

enum { LANES = 16 };

typedef float floats_4 __attribute__((vector_size(4 * sizeof(float)), aligned(4)));
typedef double doubles_4 __attribute__((vector_size(4 * sizeof(double)), aligned(8)));
typedef double doubles_8 __attribute__((vector_size(8 * sizeof(double)), aligned(8)));

INLINE double add_up(const double *lanes)
{
	double two[8];

	for (int i = 0; i < 8; i++)
		two[i] = lanes[i] + lanes[i + 8];
	return ((two[0] + two[1]) + (two[2] + two[3])) + ((two[4] + two[5]) + (two[6] + two[7]));
}

/* What differs between float and double: the bits' type. Conditions are bits, all or none: compilers make vectors of those. */
#define OF_BITS(T, value_t, bits_t, MAGNITUDE, INF) \
	INLINE bits_t bits_##T(const value_t *x) \
	{ \
		bits_t b; \
		memcpy(&b, x, sizeof b); \
		return b; \
	} \
	/* As integers, the largest is the largest positive number, and that without signs the smallest negative one. */ \
	INLINE void range_##T(const value_t *x, int n, struct lbx_extent *ret) \
	{ \
		const bits_t sign = -MAGNITUDE - 1; \
		bits_t least = MAGNITUDE, high = sign; \
		u##bits_t low = 0; \
		for (int i = 0; i < n; i++) { \
			bits_t b = bits_##T(&x[i]), a = b & MAGNITUDE; \
			least = a < least ? a : least; \
			high = b > high ? b : high; \
			low = (u##bits_t)b > low ? (u##bits_t)b : low; \
		} \
		bits_t min = (bits_t)low < 0 ? (bits_t)low : least, max = high >= 0 ? high : least | sign; \
		bits_t far = min & MAGNITUDE, up = max & MAGNITUDE; \
		*ret = (struct lbx_extent){ least, far > up ? far : up, min, max }; \
	} \
	/* one less than a magnitude is the largest of unsigned numbers for zero alone */ \
	INLINE void zeros_##T(const value_t *x, int n, struct lbx_zeros *ret) \
	{ \
		u##bits_t least = -1, zeros = 0; \
		for (int i = 0; i < n; i++) { \
			u##bits_t a = (u##bits_t)(bits_##T(&x[i]) & MAGNITUDE) - 1; \
			zeros += a >> (sizeof a * 8 - 1); \
			least = a < least ? a : least; \
		} \
		*ret = (struct lbx_zeros){ (int64_t)zeros, (int64_t)least + 1 }; \
	} \
	INLINE int64_t less_##T(const value_t *x, int n, int64_t bits) \
	{ \
		bits_t limit = (bits_t)bits, count = 0; \
		for (int i = 0; i < n; i++) \
			count += (bits_t)((bits_##T(&x[i]) & MAGNITUDE) < limit); \
		return count; \
	} \
	INLINE void mask_##T(const value_t *restrict x, int n, value_t k, value_t *restrict to, \
			     struct lbx_not_finite *ret) \
	{ \
		bits_t nan = 0, above = 0, below = 0, instead = bits_##T(&k); \
		for (int i = 0; i < n; i++) { \
			bits_t b = bits_##T(&x[i]), a = b & MAGNITUDE; \
			nan += (bits_t)(a > INF); \
			above += (bits_t)(b == INF); \
			below += (bits_t)(b == (INF | (-MAGNITUDE - 1))); \
			b = a < INF ? b : instead; \
			memcpy(&to[i], &b, sizeof b); \
		} \
		*ret = (struct lbx_not_finite){ nan, above, below }; \
	}
OF_BITS(f32, float, int32_t, INT32_MAX, 0x7f800000)
OF_BITS(f64, double, int64_t, INT64_MAX, 0x7ff0000000000000)

/* Sums in sixteen lanes, of vectors of `width` doubles: of the registers' width, since wider ones live in memory. The lanes
 * are added up in one order, whatever the width. */
#define MOMENTS(attributes, name, value_t, load, doubles, width) \
	attributes INLINE void name##_lanes(const value_t *x, int n, double k, bool shifts, bool more, double *sums, \
					    double *squares) \
	{ \
		doubles s[LANES / width], q[LANES / width], ks = k - (doubles){ 0 }; \
		memset(s, 0, sizeof s); \
		memset(q, 0, sizeof q); \
		for (int i = 0; i < n; i += LANES) { \
			if (more) /* the next block: beyond a page nothing looks ahead */ \
				__builtin_prefetch(x + LBX_PASS_BLOCK + i); \
			for (int v = 0; v < LANES / width; v++) { \
				doubles d = load(x + i + v * width); \
				if (shifts) \
					d -= ks; \
				s[v] += d; \
				q[v] += d * d; \
			} \
		} \
		memcpy(sums, s, sizeof s); \
		memcpy(squares, q, sizeof q); \
	} \
	attributes INLINE void name(const value_t *x, int n, double k, bool more, struct lbx_moments *ret) \
	{ \
		double sums[LANES], squares[LANES]; \
		int whole = n / LANES * LANES; \
		if (k == 0) \
			name##_lanes(x, whole, 0, false, more, sums, squares); \
		else \
			name##_lanes(x, whole, k, true, false, sums, squares); \
		*ret = (struct lbx_moments){ add_up(sums), add_up(squares) }; \
		for (int i = whole; i < n; i++) { \
			double d = (double)x[i] - k; \
			ret->s += d; \
			ret->q += d * d; \
		} \
	}
#define FOUR_FLOATS(x) __builtin_convertvector(*(const floats_4 *)(x), doubles_4)
#define FOUR_DOUBLES(x) (*(const doubles_4 *)(x))
/* gcc 12 would convert halves, and put them together */
#define EIGHT_FLOATS(x) ((doubles_8)_mm512_cvtps_pd(_mm256_loadu_ps(x)))
#define EIGHT_DOUBLES(x) (*(const doubles_8 *)(x))
MOMENTS(, moments_f32_4, float, FOUR_FLOATS, doubles_4, 4)
MOMENTS(, moments_f64_4, double, FOUR_DOUBLES, doubles_4, 4)
#ifdef __x86_64__
MOMENTS(LBX_ISA_V4, moments_f32_8, float, EIGHT_FLOATS, doubles_8, 8)
MOMENTS(LBX_ISA_V4, moments_f64_8, double, EIGHT_DOUBLES, doubles_8, 8)
#endif

#define LOOK(attributes, T, value_t, INF, width) \
	attributes INLINE bool look_##T##_##width(const value_t *x, int n, bool more, struct lbx_extent *ret, \
						  struct lbx_moments *ret_moments) \
	{ \
		range_##T(x, n, ret); \
		if (ret->most >= INF) \
			return false; \
		moments_##T##_##width(x, n, 0, more, ret_moments); \
		return true; \
	}
LOOK(, f32, float, 0x7f800000, 4)
LOOK(, f64, double, 0x7ff0000000000000, 4)
#ifdef __x86_64__
LOOK(LBX_ISA_V4, f64, double, 0x7ff0000000000000, 8)

enum { WIDE = 2 * LANES };

/* Both in one loop, for which a processor has more room than for two. Comparisons are of floats, which more ports of a processor do than those
 * of integers: if something is not finite, the sum of squares is not, and zeros, whose signs these do not see, are looked at
 * again. */
LBX_ISA_V4 INLINE bool look_f32_8(const float *x, int n, bool more, struct lbx_extent *ret,
				  struct lbx_moments *ret_moments)
{
	__m512 low = _mm512_set1_ps(INFINITY), high = _mm512_set1_ps(-INFINITY), least = low;
	__m512d s[4] = { { 0 } }, q[4] = { { 0 } };
	int whole = n / WIDE * WIDE;

	for (int i = 0; i < whole; i += WIDE) {
		for (int v = 0; v < 2; v++) {
			__m512 y = _mm512_loadu_ps(x + i + v * LANES);
			low = _mm512_min_ps(y, low);
			high = _mm512_max_ps(y, high);
			least = _mm512_range_ps(y, least, 2 | 2 << 2); /* the smaller magnitude, without its sign */
			if (more)
				_mm_prefetch((const void *)(x + LBX_PASS_BLOCK + i + v * LANES), _MM_HINT_T0);
		}
		for (int v = 0; v < 4; v++) {
			__m512d d = _mm512_cvtps_pd(_mm256_loadu_ps(x + i + v * 8));
			s[v] = _mm512_add_pd(s[v], d);
			q[v] = _mm512_fmadd_pd(d, d, q[v]);
		}
	}
	double sum = _mm512_reduce_add_pd((s[0] + s[1]) + (s[2] + s[3]));
	double squares = _mm512_reduce_add_pd((q[0] + q[1]) + (q[2] + q[3]));
	float min = _mm512_reduce_min_ps(low), max = _mm512_reduce_max_ps(high), nearest = _mm512_reduce_min_ps(least);
	for (int i = whole; i < n; i++) {
		min = x[i] < min ? x[i] : min;
		max = x[i] > max ? x[i] : max;
		nearest = fabsf(x[i]) < nearest ? fabsf(x[i]) : nearest;
		sum += (double)x[i];
		squares += (double)x[i] * (double)x[i];
	}
	*ret_moments = (struct lbx_moments){ sum, squares };
	bool is_finite = squares - squares == 0;
	float far = -min > max ? -min : max;
	if (is_finite && min != 0 && max != 0)
		*ret = (struct lbx_extent){ bits_f32(&nearest), bits_f32(&far), bits_f32(&min), bits_f32(&max) };
	else
		range_f32(x, n, ret);
	return is_finite;
}
#endif

INLINE void absolute(const float *from, int n, float *to)
{
	for (int i = 0; i < n; i++) {
		float re = from[2 * i], im = from[2 * i + 1];
		double m = sqrt((double)re * re + (double)im * im); /* no overflow in double */
		to[i] = isinf(re) | isinf(im) ? INFINITY : (float)m;
	}
}

#define LEVEL_OF(T, value_t, isa, attribute, width) \
	attribute static void range_##T##_##isa(const value_t *x, int n, struct lbx_extent *ret) \
	{ \
		range_##T(x, n, ret); \
	} \
	attribute static bool look_##T##_##isa(const value_t *x, int n, bool more, struct lbx_extent *ret, \
					       struct lbx_moments *ret_moments) \
	{ \
		return more ? look_##T##_##width(x, n, true, ret, ret_moments) \
			    : look_##T##_##width(x, n, false, ret, ret_moments); \
	} \
	attribute static void zeros_##T##_##isa(const value_t *x, int n, struct lbx_zeros *ret) \
	{ \
		zeros_##T(x, n, ret); \
	} \
	attribute static int64_t less_##T##_##isa(const value_t *x, int n, int64_t bits) \
	{ \
		return less_##T(x, n, bits); \
	} \
	attribute static void mask_##T##_##isa(const value_t *x, int n, value_t k, value_t *to, \
					       struct lbx_not_finite *ret) \
	{ \
		mask_##T(x, n, k, to, ret); \
	} \
	attribute static void moments_##T##_##isa(const value_t *x, int n, double k, struct lbx_moments *ret) \
	{ \
		moments_##T##_##width(x, n, k, false, ret); \
	}
#define PASSES(T, isa) \
	{ \
		range_##T##_##isa, look_##T##_##isa, zeros_##T##_##isa, \
		less_##T##_##isa,  mask_##T##_##isa, moments_##T##_##isa, \
	}
#define LEVEL(isa, attribute, width) \
	LEVEL_OF(f32, float, isa, attribute, width) \
	LEVEL_OF(f64, double, isa, attribute, width) \
	attribute static void absolute_##isa(const float *x, int n, float *to) \
	{ \
		absolute(x, n, to); \
	} \
	static const struct lbx_passes passes_##isa = { PASSES(f32, isa), PASSES(f64, isa), absolute_##isa };
LEVEL(base, , 4)
#ifdef __x86_64__
LEVEL(v3, LBX_ISA_V3, 4)
LEVEL(v4, LBX_ISA_V4, 8)
#endif

const struct lbx_passes *lbx_passes(void)
{
	return LBX_ISA_CHOOSE(passes);
}
