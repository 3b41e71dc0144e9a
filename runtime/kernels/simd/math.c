/* Transcendental functions. With glibc on x86-64 they are those of libmvec, called by
 * their names of the vector ABI, so that gcc and clang give the same bits and a
 * remainder of a tile goes through the same code as the rest of it. */
#include <float.h>
#include <math.h>

#include "kernels/simd/tiles.h"

#if defined __x86_64__ && defined __GLIBC__
#if __GLIBC_PREREQ(2, 35)
#define HAVE_MVEC 1
#endif
#endif

#ifdef HAVE_MVEC
#include <immintrin.h>

#if defined __AVX512F__
enum { VECTOR_BYTES = 64 };
#define MVEC_F32(args, fn) _ZGVeN16##args##_##fn##f
#define MVEC_F64(args, fn) _ZGVeN8##args##_##fn
#define BEYOND(s, x, low, high) \
	((_mm512_cmp_p##s##_mask(x, _mm512_set1_p##s(low), _CMP_NGE_UQ) | \
	  _mm512_cmp_p##s##_mask(x, _mm512_set1_p##s(high), _CMP_NLE_UQ)) != 0)
#elif defined __AVX2__
enum { VECTOR_BYTES = 32 };
#define MVEC_F32(args, fn) _ZGVdN8##args##_##fn##f
#define MVEC_F64(args, fn) _ZGVdN4##args##_##fn
#define BEYOND(s, x, low, high) \
	(_mm256_movemask_p##s(_mm256_or_p##s(_mm256_cmp_p##s(x, _mm256_set1_p##s(low), _CMP_NGE_UQ), \
					     _mm256_cmp_p##s(x, _mm256_set1_p##s(high), _CMP_NLE_UQ))) != 0)
#else
enum { VECTOR_BYTES = 16 };
#define MVEC_F32(args, fn) _ZGVbN4##args##_##fn##f
#define MVEC_F64(args, fn) _ZGVbN2##args##_##fn
#define BEYOND(s, x, low, high) \
	(_mm_movemask_p##s(_mm_or_p##s(_mm_cmpnge_p##s(x, _mm_set1_p##s(low)), \
				       _mm_cmpnle_p##s(x, _mm_set1_p##s(high)))) != 0)
#endif
typedef float f32v __attribute__((vector_size(VECTOR_BYTES)));
typedef double f64v __attribute__((vector_size(VECTOR_BYTES)));

/* Whether any of x is below low, above high, or NaN. */
static inline bool beyond_f32(f32v x, float low, float high)
{
	return BEYOND(s, x, low, high);
}

static inline bool beyond_f64(f64v x, double low, double high)
{
	return BEYOND(d, x, low, high);
}

#define VMATH(name, s, T, V, call) \
	static void name##_##s(int64_t n, void *dst, const void *a_, const void *b_, const void *c_) \
	{ \
		enum { W = sizeof(V) / sizeof(T) }; \
		T *d = dst; \
		const T *a = a_; \
		(void)b_, (void)c_; \
		V x; \
		for (; n >= W; n -= W, a += W, d += W) { \
			memcpy(&x, a, sizeof x); \
			x = call; \
			memcpy(d, &x, sizeof x); \
		} \
		if (n > 0) { \
			x = (V){ 0 } + 1; \
			memcpy(&x, a, (size_t)n * sizeof(T)); \
			x = call; \
			memcpy(d, &x, (size_t)n * sizeof(T)); \
		} \
	}
#define VMATH1(name, f) \
	f32v MVEC_F32(v, f)(f32v); \
	f64v MVEC_F64(v, f)(f64v); \
	VMATH(name, f32, float, f32v, MVEC_F32(v, f)(x)) \
	VMATH(name, f64, double, f64v, MVEC_F64(v, f)(x))

typedef int32_t i32v __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t i64v __attribute__((vector_size(VECTOR_BYTES)));

static inline f32v pick_f32(i32v mask, f32v a, f32v b)
{
	return (f32v)((mask & (i32v)a) | (~mask & (i32v)b));
}

static inline f64v pick_f64(i64v mask, f64v a, f64v b)
{
	return (f64v)((mask & (i64v)a) | (~mask & (i64v)b));
}

#define PICK(mask, a, b) _Generic((a), f32v: pick_f32, f64v: pick_f64)(mask, a, b)
#define EVERY(T, value) ((T){ 0 } + (value))

/* libmvec takes numbers out of a function's range, and NaN, one by one, ten times as slowly as others. What becomes of them
 * is known without it: `below` of those under `low`, `above` of those over `high`; it sees `inside` instead of them. */
#define VWITHIN(name, s, T, V, I, f, low, high, below, above, inside) \
	static __attribute__((noinline)) V name##_beyond_##s(V x) \
	{ \
		const T lowest = low, highest = high; \
		I under = x<lowest, over = x> highest, none = x != x; \
		V y = f(PICK(under | over | none, EVERY(V, inside), x)); \
		y = PICK(under, below(V, x), PICK(over, above(V, x), y)); \
		return PICK(none, x + x, y); \
	} \
	static inline V name##_of_##s(V x) \
	{ \
		return beyond_##s(x, low, high) ? name##_beyond_##s(x) : f(x); \
	} \
	VMATH(name, s, T, V, name##_of_##s(x))
#define VMATH_WITHIN(name, f, low_f32, high_f32, low_f64, high_f64, below, above, inside) \
	f32v MVEC_F32(v, f)(f32v); \
	f64v MVEC_F64(v, f)(f64v); \
	VWITHIN(name, f32, float, f32v, i32v, MVEC_F32(v, f), low_f32, high_f32, below, above, inside) \
	VWITHIN(name, f64, double, f64v, i64v, MVEC_F64(v, f), low_f64, high_f64, below, above, inside)
#define IS_ZERO(V, x) EVERY(V, 0)
#define IS_NAN(V, x) (((x) - (x)) / ((x) - (x))) /* the processor's own, with its sign, as of libmvec */
#define IS_ONE(V, x) EVERY(V, 1)
#define IS_MINUS_ONE(V, x) EVERY(V, -1)
#define IS_INF(V, x) EVERY(V, INFINITY)
#define IS_MINUS_INF(V, x) EVERY(V, -INFINITY)
#define IS_POLE_AT_ZERO(V, x) PICK((x) == 0, EVERY(V, -INFINITY), IS_NAN(V, x))
#define IS_POLE_AT_ONE(V, x) PICK((x) * (x) == 1, (x) * INFINITY, IS_NAN(V, x))

#else
#define VMATH1(name, fn) \
	LB_TILE(name##_f32, float, float, fn##f(a[i])) \
	LB_TILE(name##_f64, double, double, fn(a[i]))
#define VMATH_WITHIN(name, fn, ...) VMATH1(name, fn)
#endif

/* e^x rounds to 0 below the lower bounds, and to infinity above the higher ones, as its halves do. */
VMATH_WITHIN(exp, exp, -104, 90, -746, 711, IS_ZERO, IS_INF, 0)
VMATH_WITHIN(expm1, expm1, -104, 90, -746, 711, IS_MINUS_ONE, IS_INF, 0)
VMATH_WITHIN(sinh, sinh, -90, 90, -711, 711, IS_MINUS_INF, IS_INF, 0)
VMATH_WITHIN(cosh, cosh, -90, 90, -711, 711, IS_INF, IS_INF, 0)
VMATH_WITHIN(log, log, FLT_TRUE_MIN, FLT_MAX, DBL_TRUE_MIN, DBL_MAX, IS_POLE_AT_ZERO, IS_INF, 1)
VMATH_WITHIN(log2, log2, FLT_TRUE_MIN, FLT_MAX, DBL_TRUE_MIN, DBL_MAX, IS_POLE_AT_ZERO, IS_INF, 1)
VMATH_WITHIN(log10, log10, FLT_TRUE_MIN, FLT_MAX, DBL_TRUE_MIN, DBL_MAX, IS_POLE_AT_ZERO, IS_INF, 1)
VMATH_WITHIN(log1p, log1p, -1 + FLT_EPSILON / 2, FLT_MAX, -1 + DBL_EPSILON / 2, DBL_MAX, IS_POLE_AT_ONE, IS_INF, 0)
VMATH_WITHIN(arctanh, atanh, -1 + FLT_EPSILON / 2, 1 - FLT_EPSILON / 2, -1 + DBL_EPSILON / 2, 1 - DBL_EPSILON / 2,
	     IS_POLE_AT_ONE, IS_POLE_AT_ONE, 0)
VMATH_WITHIN(sin, sin, -FLT_MAX, FLT_MAX, -DBL_MAX, DBL_MAX, IS_NAN, IS_NAN, 0)
VMATH_WITHIN(cos, cos, -FLT_MAX, FLT_MAX, -DBL_MAX, DBL_MAX, IS_NAN, IS_NAN, 0)
VMATH_WITHIN(tan, tan, -FLT_MAX, FLT_MAX, -DBL_MAX, DBL_MAX, IS_NAN, IS_NAN, 0)
VMATH_WITHIN(tanh, tanh, -FLT_MAX, FLT_MAX, -DBL_MAX, DBL_MAX, IS_MINUS_ONE, IS_ONE, 0)
VMATH_WITHIN(arcsinh, asinh, -FLT_MAX, FLT_MAX, -DBL_MAX, DBL_MAX, IS_MINUS_INF, IS_INF, 0)
VMATH_WITHIN(arccosh, acosh, 1, FLT_MAX, 1, DBL_MAX, IS_NAN, IS_INF, 2)
VMATH_WITHIN(arcsin, asin, -1, 1, -1, 1, IS_NAN, IS_NAN, 0)
VMATH_WITHIN(arccos, acos, -1, 1, -1, 1, IS_NAN, IS_NAN, 0)
VMATH1(erf, erf)
VMATH1(arctan, atan)

#ifdef HAVE_MVEC
f32v MVEC_F32(vv, pow)(f32v, f32v);
f64v MVEC_F64(vv, pow)(f64v, f64v);
#define VMATH2(name, s, T, V, f) \
	static void name##_##s(int64_t n, void *dst, const void *a_, const void *b_, const void *c_) \
	{ \
		enum { W = sizeof(V) / sizeof(T) }; \
		T *d = dst; \
		const T *a = a_, *b = b_; \
		(void)c_; \
		V x, y; \
		for (; n >= W; n -= W, a += W, b += W, d += W) { \
			memcpy(&x, a, sizeof x); \
			memcpy(&y, b, sizeof y); \
			x = f(x, y); \
			memcpy(d, &x, sizeof x); \
		} \
		if (n > 0) { \
			x = y = (V){ 0 } + 1; \
			memcpy(&x, a, (size_t)n * sizeof(T)); \
			memcpy(&y, b, (size_t)n * sizeof(T)); \
			x = f(x, y); \
			memcpy(d, &x, (size_t)n * sizeof(T)); \
		} \
	}
f32v MVEC_F32(vv, atan2)(f32v, f32v);
f64v MVEC_F64(vv, atan2)(f64v, f64v);
VMATH2(arctan2, f32, float, f32v, MVEC_F32(vv, atan2))
VMATH2(arctan2, f64, double, f64v, MVEC_F64(vv, atan2))
/* Of negative numbers, and 0, libmvec sees their size, or 1, for the same reason; numbers from `whole` on are. */
#define VPOWER(s, V, I, f, whole, least, most) \
	static __attribute__((noinline)) V power_beyond_##s(V x, V y) \
	{ \
		I sign = (I) - (V){ 0 }, zero = x == 0; \
		V size = (V)((I)x & ~sign), times = (V)((I)y & ~sign), half = times / 2; \
		I finite = (size <= (most)) & (times <= (most)); \
		I is_whole = (times >= (whole)) | ((times + (whole)) - (whole) == times); \
		I is_odd = is_whole & ((half + (whole)) - (whole) != half) & (times < 2 * (whole)); \
		V p = f(PICK(finite, PICK(zero, EVERY(V, 1), size), x), y); \
		V of_zero = PICK(y < 0, EVERY(V, INFINITY), PICK(y > 0, EVERY(V, 0), EVERY(V, 1))); \
		V of_size = (V)((I)PICK(zero, of_zero, p) | (is_odd & sign & (I)x)); \
		return PICK(finite, PICK((x < 0) & ~is_whole, IS_NAN(V, x), of_size), p); \
	} \
	static inline V power_of_##s(V x, V y) \
	{ \
		return beyond_##s(x, least, most) ? power_beyond_##s(x, y) : f(x, y); \
	}
VPOWER(f32, f32v, i32v, MVEC_F32(vv, pow), 0x1p23f, FLT_TRUE_MIN, FLT_MAX)
VPOWER(f64, f64v, i64v, MVEC_F64(vv, pow), 0x1p52, DBL_TRUE_MIN, DBL_MAX)
VMATH2(power, f32, float, f32v, power_of_f32)
VMATH2(power, f64, double, f64v, power_of_f64)
/* e^-|x| is 1 at most: 1 / (1 + e^-x) for x from 0 on, e^x / (1 + e^x) below, down to denormals. */
#define VSIGMOID(s, V, I, f) \
	static inline V sigmoid_of_##s(V x) \
	{ \
		I sign = (I) - (V){ 0 }; \
		V e = f((V)((I)x | sign)); \
		return PICK(x < 0, e, EVERY(V, 1)) / (1 + e); \
	}
VSIGMOID(f32, f32v, i32v, exp_of_f32)
VSIGMOID(f64, f64v, i64v, exp_of_f64)
VMATH(sigmoid, f32, float, f32v, sigmoid_of_f32(x))
VMATH(sigmoid, f64, double, f64v, sigmoid_of_f64(x))
/* The larger one, and log(1 + e^-d) for their distance d: 0 of two infinities, too. */
#define VLOGADDEXP(s, V, I, exp, log1p) \
	static inline V logaddexp_of_##s(V x, V y) \
	{ \
		I above = x > y, apart = x != y; \
		V high = PICK(above, x, y), low = PICK(above, y, x); \
		return high + log1p(exp((V)(apart & (I)(low - high)))); \
	}
VLOGADDEXP(f32, f32v, i32v, exp_of_f32, MVEC_F32(v, log1p))
VLOGADDEXP(f64, f64v, i64v, exp_of_f64, MVEC_F64(v, log1p))
VMATH2(logaddexp, f32, float, f32v, logaddexp_of_f32)
VMATH2(logaddexp, f64, double, f64v, logaddexp_of_f64)
#else
LB_TILE(power_f32, float, float, powf(a[i], b[i]))
LB_TILE(power_f64, double, double, pow(a[i], b[i]))
LB_TILE(arctan2_f32, float, float, atan2f(a[i], b[i]))
LB_TILE(arctan2_f64, double, double, atan2(a[i], b[i]))
LB_TILE(sigmoid_f32, float, float, (a[i] < 0 ? expf(a[i]) : 1) / (1 + expf(-fabsf(a[i]))))
LB_TILE(sigmoid_f64, double, double, (a[i] < 0 ? exp(a[i]) : 1) / (1 + exp(-fabs(a[i]))))
#define LOGADDEXP(x, y, exp, log1p, fabs) (((x) > (y) ? (x) : (y)) + log1p(exp((x) == (y) ? 0 : -fabs((x) - (y)))))
LB_TILE(logaddexp_f32, float, float, LOGADDEXP(a[i], b[i], expf, log1pf, fabsf))
LB_TILE(logaddexp_f64, double, double, LOGADDEXP(a[i], b[i], exp, log1p, fabs))
#endif

/* The inverse of erf is the normal quantile over sqrt(2): Wichura's PPND16, Applied Statistics 37 (1988), algorithm AS 241,
 * of some 16 digits: a quotient of polynomials of degree 7 for each of three ranges. Within 8 units of f64's last place, and
 * of f32 rounded once. */
typedef const double coefficients[8];
/* clang-format off */
static coefficients near_over = { 3.3871328727963666080,  1.3314166789178437745e2, 1.9715909503065514427e3,
				  1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
				  3.3430575583588128105e4, 2.5090809287301226727e3 };
static coefficients near_under = { 1,                       4.2313330701600911252e1, 6.8718700749205790830e2,
				   5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
				   2.8729085735721942674e4, 5.2264952788528545610e3 };
static coefficients off_over = { 1.42343711074968357734,     4.63033784615654529590,     5.76949722146069140550,
				 3.64784832476320460504,     1.27045825245236838258,     2.41780725177450611770e-1,
				 2.27238449892691845833e-2,  7.74545014278341407640e-4 };
static coefficients off_under = { 1,                          2.05319162663775882187,     1.67638483018380384940,
				  6.89767334985100004550e-1,  1.48103976427480074590e-1,  1.51986665636164571966e-2,
				  5.47593808499534494600e-4,  1.05075007164441684324e-9 };
static coefficients far_over = { 6.65790464350110377720,     5.46378491116411436990,     1.78482653991729133580,
				 2.96560571828504891230e-1,  2.65321895265761230930e-2,  1.24266094738807843860e-3,
				 2.71155556874348757815e-5,  2.01033439929228813265e-7 };
static coefficients far_under = { 1,                          5.99832206555887937690e-1,  1.36929880922735805310e-1,
				  1.48753612908506148525e-2,  7.86869131145613259100e-4,  1.84631831751005468180e-5,
				  1.42151175831644588870e-7,  2.04426310338993978564e-15 };
/* clang-format on */

static inline double quotient_of(coefficients over, coefficients under, double r)
{
	double p = over[7], q = under[7];
	for (int k = 6; k >= 0; k--) {
		p = p * r + over[k];
		q = q * r + under[k];
	}
	return p / q;
}

/* log_tail: of (1 - |x|) / 2. */
static inline double erfinv_of(double x, double log_tail)
{
	double size = fabs(x), root = sqrt(-log_tail);
	double y = x / 2 * quotient_of(near_over, near_under, 0.180625 - x * x / 4);
	double off = quotient_of(off_over, off_under, root - 1.6), far = quotient_of(far_over, far_under, root - 5);
	double beyond = copysign(root <= 5 ? off : far, x);
	y = (size <= 0.85 ? y : beyond) * 0.70710678118654752440;
	return size < 1 ? y : size == 1 ? copysign((double)INFINITY, x) : (double)NAN;
}

#define ERFINV(s, T) \
	static void erfinv_##s(int64_t n, void *dst, const void *a_, const void *b_, const void *c_) \
	{ \
		enum { CHUNK = 64 }; \
		T *d = dst; \
		const T *a = a_; \
		(void)b_, (void)c_; \
		double x[CHUNK], tail[CHUNK]; \
		for (int64_t at = 0; at < n; at += CHUNK) { \
			int64_t m = n - at < CHUNK ? n - at : CHUNK; \
			LB_EACH(i, m) \
			{ \
				x[i] = (double)a[at + i]; \
				tail[i] = 0.5 - fabs(x[i]) / 2; \
			} \
			log_f64(m, tail, tail, NULL, NULL); \
			LB_EACH(i, m) d[at + i] = (T)erfinv_of(x[i], tail[i]); \
		} \
	}
ERFINV(f32, float)
ERFINV(f64, double)

LB_HALVES(exp, 1, false)
LB_HALVES(log, 1, false)
LB_HALVES(sin, 1, false)
LB_HALVES(cos, 1, false)
LB_HALVES(tanh, 1, false)
LB_HALVES(erf, 1, false)
LB_HALVES(tan, 1, false)
LB_HALVES(arcsin, 1, false)
LB_HALVES(arccos, 1, false)
LB_HALVES(arctan, 1, false)
LB_HALVES(sinh, 1, false)
LB_HALVES(cosh, 1, false)
LB_HALVES(arcsinh, 1, false)
LB_HALVES(arccosh, 1, false)
LB_HALVES(arctanh, 1, false)
LB_HALVES(expm1, 1, false)
LB_HALVES(log1p, 1, false)
LB_HALVES(log2, 1, false)
LB_HALVES(log10, 1, false)
LB_HALVES(erfinv, 1, false)
LB_HALVES(sigmoid, 1, false)
LB_HALVES(power, 2, false)
LB_HALVES(arctan2, 2, false)
LB_HALVES(logaddexp, 2, false)

#define FLOATS(name) { [LB_F16] = name##_f16, [LB_BF16] = name##_bf16, [LB_F32] = name##_f32, [LB_F64] = name##_f64 }

lb_tile_fn *LB_ISA_NAME(lb_tile_math)(int op, int dtype)
{
	static lb_tile_fn *const table[LB_OPS][LB_DTYPES] = {
		[LB_OP_EXP] = FLOATS(exp),
		[LB_OP_LOG] = FLOATS(log),
		[LB_OP_SIN] = FLOATS(sin),
		[LB_OP_COS] = FLOATS(cos),
		[LB_OP_TANH] = FLOATS(tanh),
		[LB_OP_ERF] = FLOATS(erf),
		[LB_OP_SIGMOID] = FLOATS(sigmoid),
		[LB_OP_POWER] = FLOATS(power),
		[LB_OP_LOGADDEXP] = FLOATS(logaddexp),
		[LB_OP_TAN] = FLOATS(tan),
		[LB_OP_ARCSIN] = FLOATS(arcsin),
		[LB_OP_ARCCOS] = FLOATS(arccos),
		[LB_OP_ARCTAN] = FLOATS(arctan),
		[LB_OP_SINH] = FLOATS(sinh),
		[LB_OP_COSH] = FLOATS(cosh),
		[LB_OP_ARCSINH] = FLOATS(arcsinh),
		[LB_OP_ARCCOSH] = FLOATS(arccosh),
		[LB_OP_ARCTANH] = FLOATS(arctanh),
		[LB_OP_EXPM1] = FLOATS(expm1),
		[LB_OP_LOG1P] = FLOATS(log1p),
		[LB_OP_LOG2] = FLOATS(log2),
		[LB_OP_LOG10] = FLOATS(log10),
		[LB_OP_ERFINV] = FLOATS(erfinv),
		[LB_OP_ARCTAN2] = FLOATS(arctan2),
	};
	return table[op][dtype];
}
