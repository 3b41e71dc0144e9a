/* Transcendental functions. With glibc on x86-64 they are those of libmvec, called by
 * their names of the vector ABI, so that gcc and clang give the same bits and a
 * remainder of a tile goes through the same code as the rest of it. */
#include <math.h>

#include "kernels/simd/tiles.h"

#if defined __x86_64__ && defined __GLIBC__
#if __GLIBC_PREREQ(2, 35)
#define HAVE_MVEC 1
#endif
#endif

#ifdef HAVE_MVEC
#if defined __AVX512F__
enum { VECTOR_BYTES = 64 };
#define MVEC_F32(args, fn) _ZGVeN16##args##_##fn##f
#define MVEC_F64(args, fn) _ZGVeN8##args##_##fn
#elif defined __AVX2__
enum { VECTOR_BYTES = 32 };
#define MVEC_F32(args, fn) _ZGVdN8##args##_##fn##f
#define MVEC_F64(args, fn) _ZGVdN4##args##_##fn
#else
enum { VECTOR_BYTES = 16 };
#define MVEC_F32(args, fn) _ZGVbN4##args##_##fn##f
#define MVEC_F64(args, fn) _ZGVbN2##args##_##fn
#endif
typedef float f32v __attribute__((vector_size(VECTOR_BYTES)));
typedef double f64v __attribute__((vector_size(VECTOR_BYTES)));

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

f32v MVEC_F32(v, exp)(f32v);
f64v MVEC_F64(v, exp)(f64v);
f32v MVEC_F32(v, log1p)(f32v);
f64v MVEC_F64(v, log1p)(f64v);
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
VMATH2(power, f32, float, f32v, MVEC_F32(vv, pow))
VMATH2(power, f64, double, f64v, MVEC_F64(vv, pow))
/* e^-|x| is 1 at most: 1 / (1 + e^-x) for x from 0 on, e^x / (1 + e^x) below, down to denormals. */
#define VSIGMOID(s, V, I, f) \
	static inline V sigmoid_of_##s(V x) \
	{ \
		V one = (V){ 0 } + 1, e; \
		I sign = (I) - (V){ 0 }, below = x < 0; \
		e = f((V)((I)x | sign)); \
		return (V)((below & (I)e) | (~below & (I)one)) / (1 + e); \
	}
typedef int32_t i32v __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t i64v __attribute__((vector_size(VECTOR_BYTES)));
VSIGMOID(f32, f32v, i32v, MVEC_F32(v, exp))
VSIGMOID(f64, f64v, i64v, MVEC_F64(v, exp))
VMATH(sigmoid, f32, float, f32v, sigmoid_of_f32(x))
VMATH(sigmoid, f64, double, f64v, sigmoid_of_f64(x))
/* The larger one, and log(1 + e^-d) for their distance d: 0 of two infinities, too. */
#define VLOGADDEXP(s, V, I, exp, log1p) \
	static inline V logaddexp_of_##s(V x, V y) \
	{ \
		I above = x > y, apart = x != y; \
		V high = (V)((above & (I)x) | (~above & (I)y)); \
		V low = (V)((above & (I)y) | (~above & (I)x)); \
		return high + log1p(exp((V)(apart & (I)(low - high)))); \
	}
VLOGADDEXP(f32, f32v, i32v, MVEC_F32(v, exp), MVEC_F32(v, log1p))
VLOGADDEXP(f64, f64v, i64v, MVEC_F64(v, exp), MVEC_F64(v, log1p))
VMATH2(logaddexp, f32, float, f32v, logaddexp_of_f32)
VMATH2(logaddexp, f64, double, f64v, logaddexp_of_f64)
#else
#define VMATH1(name, fn) \
	LB_TILE(name##_f32, float, float, fn##f(a[i])) \
	LB_TILE(name##_f64, double, double, fn(a[i]))
LB_TILE(power_f32, float, float, powf(a[i], b[i]))
LB_TILE(power_f64, double, double, pow(a[i], b[i]))
LB_TILE(sigmoid_f32, float, float, (a[i] < 0 ? expf(a[i]) : 1) / (1 + expf(-fabsf(a[i]))))
LB_TILE(sigmoid_f64, double, double, (a[i] < 0 ? exp(a[i]) : 1) / (1 + exp(-fabs(a[i]))))
#define LOGADDEXP(x, y, exp, log1p, fabs) (((x) > (y) ? (x) : (y)) + log1p(exp((x) == (y) ? 0 : -fabs((x) - (y)))))
LB_TILE(logaddexp_f32, float, float, LOGADDEXP(a[i], b[i], expf, log1pf, fabsf))
LB_TILE(logaddexp_f64, double, double, LOGADDEXP(a[i], b[i], exp, log1p, fabs))
#endif

VMATH1(exp, exp)
VMATH1(log, log)
VMATH1(sin, sin)
VMATH1(cos, cos)
VMATH1(tanh, tanh)
VMATH1(erf, erf)

LB_HALVES(exp, 1, false)
LB_HALVES(log, 1, false)
LB_HALVES(sin, 1, false)
LB_HALVES(cos, 1, false)
LB_HALVES(tanh, 1, false)
LB_HALVES(erf, 1, false)
LB_HALVES(sigmoid, 1, false)
LB_HALVES(power, 2, false)
LB_HALVES(logaddexp, 2, false)

#define FLOATS(name) { [LB_F16] = name##_f16, [LB_BF16] = name##_bf16, [LB_F32] = name##_f32, [LB_F64] = name##_f64 }

lb_tile_fn *LB_ISA_NAME(lb_tile_math)(int op, int dtype)
{
	static lb_tile_fn *const table[LB_OPS][LB_DTYPES] = {
		[LB_OP_EXP] = FLOATS(exp),         [LB_OP_LOG] = FLOATS(log),     [LB_OP_SIN] = FLOATS(sin),
		[LB_OP_COS] = FLOATS(cos),         [LB_OP_TANH] = FLOATS(tanh),   [LB_OP_ERF] = FLOATS(erf),
		[LB_OP_SIGMOID] = FLOATS(sigmoid), [LB_OP_POWER] = FLOATS(power), [LB_OP_LOGADDEXP] = FLOATS(logaddexp),
	};
	return table[op][dtype];
}
