/* Folds of dense elements into the lanes of an accumulator. Sums and products of f16,
 * bf16 and f32 have double lanes, of integers 64-bit ones; max and min have lanes of
 * their own dtype (float for halves). Which lane an element goes to depends on its
 * index alone, so the bits do not depend on the instruction set. */
#include <math.h>

#include "kernels/simd/tiles.h"

#define FOLD(name, A, T, expr, merge_expr) \
	static void name##_cols(int64_t n, void *acc_, const void *x_) \
	{ \
		A *acc = acc_; \
		const T *x = x_; \
		LB_EACH(i, n) \
		{ \
			A s = acc[i]; \
			T v = x[i]; \
			acc[i] = (A)(expr); \
		} \
	} \
	static void name##_rows(int64_t n, void *acc, const void *x_) \
	{ \
		const T *x = x_; \
		if (n >= LB_LANES) { \
			A lanes[LB_LANES]; \
			memcpy(lanes, acc, sizeof lanes); \
			for (; n >= LB_LANES; n -= LB_LANES, x += LB_LANES) \
				LB_EACH(i, LB_LANES) \
				{ \
					A s = lanes[i]; \
					T v = x[i]; \
					lanes[i] = (A)(expr); \
				} \
			memcpy(acc, lanes, sizeof lanes); \
		} \
		name##_cols(n, acc, x); \
	} \
	static void name##_merge(int64_t n, void *acc_, const void *other) \
	{ \
		A *acc = acc_; \
		const A *x = other; \
		LB_EACH(i, n) \
		{ \
			A s = acc[i], v = x[i]; \
			acc[i] = (A)(merge_expr); \
		} \
	}
#define SAME(name, T, expr) FOLD(name, T, T, expr, expr)
#define FMAX(s, v) ((v) > (s) || (v) != (v) ? (v) : (s))
#define FMIN(s, v) ((v) < (s) || (v) != (v) ? (v) : (s))

SAME(sum_u64, uint64_t, s + v)
SAME(prod_u64, uint64_t, s *v)
FOLD(sum_f32, double, float, s + v, s + v)
FOLD(prod_f32, double, float, s *v, s *v)
SAME(sum_f64, double, s + v)
SAME(prod_f64, double, s *v)
SAME(all_u8, uint8_t, s &v)
SAME(any_u8, uint8_t, s | v)
#define EXTREMES(ID, suffix, T, U) \
	SAME(max_##suffix, T, v > s ? v : s) \
	SAME(min_##suffix, T, v < s ? v : s)
LB_UINTS(EXTREMES)
LB_SINTS(EXTREMES)
SAME(max_f32, float, FMAX(s, v))
SAME(min_f32, float, FMIN(s, v))
SAME(max_f64, double, FMAX(s, v))
SAME(min_f64, double, FMIN(s, v))

typedef struct lb_c64 c64;
static inline bool is_nan(c64 x)
{
	return x.re != x.re || x.im != x.im;
}
static inline bool less(c64 a, c64 b)
{
	return a.re < b.re || (a.re == b.re && a.im < b.im);
}
SAME(prod_c64, c64, lb_times_c64(s, v))
SAME(max_c64, c64, !is_nan(s) && (is_nan(v) || less(s, v)) ? v : s)
SAME(min_c64, c64, !is_nan(s) && (is_nan(v) || less(v, s)) ? v : s)

#define ENTRY(stage_, acc_, unit_, name) \
	{ .stage = stage_, .acc = acc_, .unit = unit_, .rows = name##_rows, .cols = name##_cols, .merge = name##_merge }
#define SUMS(name) \
	{ \
		[LB_BOOL... LB_U64] = ENTRY(LB_U64, LB_U64, 1, name##_u64), \
			    [LB_I8... LB_I64] = ENTRY(LB_I64, LB_I64, 1, name##_u64), \
			    [LB_F16... LB_F32] = ENTRY(LB_F32, LB_F64, 1, name##_f32), \
			    [LB_F64] = ENTRY(LB_F64, LB_F64, 1, name##_f64),
#define OWN(id, suffix, name) [LB_##id] = ENTRY(LB_##id, LB_##id, 1, name##_##suffix)
#define EXTREMA(name) \
	{ [LB_BOOL] = ENTRY(LB_BOOL, LB_BOOL, 1, name##_u8), \
	  OWN(U8, u8, name), \
	  OWN(U16, u16, name), \
	  OWN(U32, u32, name), \
	  OWN(U64, u64, name), \
	  OWN(I8, i8, name), \
	  OWN(I16, i16, name), \
	  OWN(I32, i32, name), \
	  OWN(I64, i64, name), \
	  [LB_F16... LB_F32] = ENTRY(LB_F32, LB_F32, 1, name##_f32), \
	  OWN(F64, f64, name), \
	  OWN(C64, c64, name) }
#define LOGIC(name) { [LB_BOOL... LB_C64] = ENTRY(LB_BOOL, LB_BOOL, 1, name##_u8) }

/* A sum of complex is one of floats with pairs of lanes: stage c64, lanes f64. */
static const struct lb_fold sums[LB_DTYPES] = SUMS(sum)[LB_C64] = ENTRY(LB_C64, LB_F64, 2, sum_f32)
}
;
static const struct lb_fold products[LB_DTYPES] = SUMS(prod) OWN(C64, c64, prod)
}
;
static const struct lb_fold maxima[LB_DTYPES] = EXTREMA(max);
static const struct lb_fold minima[LB_DTYPES] = EXTREMA(min);
static const struct lb_fold alls[LB_DTYPES] = LOGIC(all);
static const struct lb_fold anys[LB_DTYPES] = LOGIC(any);

const struct lb_fold *LB_ISA_NAME(lb_tile_fold)(int op, int dtype)
{
	switch (op) {
	case LB_OP_SUM: return &sums[dtype];
	case LB_OP_PROD: return &products[dtype];
	case LB_OP_MAX: return &maxima[dtype];
	case LB_OP_MIN: return &minima[dtype];
	case LB_OP_ALL: return &alls[dtype];
	case LB_OP_ANY: return &anys[dtype];
	default: return NULL;
	}
}

/* `period` is 1 (one center for all: LB_LANES lanes of acc and one center) or n. */
#define DEVIATE(T) \
	do { \
		const T *v = x; \
		if (period != 1) { \
			LB_EACH(i, n) \
			{ \
				double far = (double)v[i] - center[i]; \
				acc[i] += far * far; \
			} \
			return; \
		} \
		double middle = center[0]; \
		for (; n > 0; n -= LB_LANES, v += LB_LANES) { \
			int64_t m = n < LB_LANES ? n : LB_LANES; \
			LB_EACH(i, m) \
			{ \
				double far = (double)v[i] - middle; \
				acc[i] += far * far; \
			} \
		} \
	} while (0)

void LB_ISA_NAME(lb_tile_deviations)(int64_t n, int64_t period, double *acc, const double *center, const void *x,
				     int dtype)
{
	if (dtype == LB_F64)
		DEVIATE(double);
	else
		DEVIATE(float);
}

#define SHIFT(T) \
	do { \
		const T *v = x, *c = center; \
		T *d = dst; \
		if (period == 1) { \
			T middle = c[0]; \
			LB_EACH(i, n) d[i] = v[i] - middle; \
		} else { \
			LB_EACH(i, n) d[i] = v[i] - c[i]; \
		} \
	} while (0)

void LB_ISA_NAME(lb_tile_shift)(int64_t n, int64_t period, void *dst, const void *x, const void *center, int dtype)
{
	if (dtype == LB_F64)
		SHIFT(double);
	else
		SHIFT(float);
}
