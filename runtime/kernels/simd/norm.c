/* Rows of norms and rotations. Sums are kept in LB_ROW_LANES lanes of double, or of float for few elements at a time, so that
 * their bits do not depend on the instruction set. */
#include <math.h>

#include "kernels/simd/vectors.h"

#define NORM(name, T) \
	static double name(int64_t n, T *to, const T *x, const T *weight, const T *bias, double eps, bool center) \
	{ \
		double lanes[LB_ROW_LANES] = { 0 }, mean = 0; \
		for (int64_t at = 0; center && at < n; at += LB_ROW_LANES) { \
			int64_t m = n - at < LB_ROW_LANES ? n - at : LB_ROW_LANES; \
			LB_EACH(i, m) lanes[i] += (double)x[at + i]; \
		} \
		if (center) \
			mean = lb_total(lanes) / (double)n; \
		memset(lanes, 0, sizeof lanes); \
		for (int64_t at = 0; at < n; at += LB_ROW_LANES) { \
			int64_t m = n - at < LB_ROW_LANES ? n - at : LB_ROW_LANES; \
			LB_EACH(i, m) \
			{ \
				double far = (double)x[at + i] - mean; \
				lanes[i] += far * far; \
			} \
		} \
		double scale = 1 / sqrt(lb_total(lanes) / (double)n + eps); \
		if (weight) \
			LB_EACH(i, n) to[i] = (T)(((double)x[i] - mean) * scale) * weight[i]; \
		else \
			LB_EACH(i, n) to[i] = (T)(((double)x[i] - mean) * scale); \
		if (bias) \
			LB_EACH(i, n) to[i] += bias[i]; \
		return scale; \
	}
NORM(norm_any_f32, float)
NORM(norm_f64, double)

/* Of all x - near: their sum, and that of their squares. */
struct moments {
	double sum, squares;
};

static inline __attribute__((always_inline)) struct moments moments_of(const bool center, int64_t n, const float *x,
								       float near)
{
	double sums[LB_ROW_LANES] __attribute__((aligned(64))) = { 0 };
	double squares[LB_ROW_LANES] __attribute__((aligned(64))) = { 0 };
	int64_t at = 0, whole = n / LB_ROW_LANES * LB_ROW_LANES;
	while (at < whole) {
		lb_floats some[LB_ROW_VECTORS] = { 0 }, some_squares[LB_ROW_VECTORS] = { 0 };
		int64_t end = whole - at < LB_ROW_STRETCH ? whole : at + LB_ROW_STRETCH;
		for (; at < end; at += LB_ROW_LANES) {
			lb_prefetch(x + n + at, LB_ROW_LANES * sizeof *x);
			LB_UNROLL
			for (int k = 0; k < LB_ROW_VECTORS; k++) {
				lb_floats far = lb_load(x + at + k * LB_FLOATS);
				if (center)
					some[k] += far -= near;
				some_squares[k] += far * far;
			}
		}
		if (center)
			lb_add_to_lanes(sums, some);
		lb_add_to_lanes(squares, some_squares);
	}
	for (int64_t i = 0; at + i < n; i++) {
		double far = (double)(x[at + i] - near);
		sums[i] += far;
		squares[i] += far * far;
	}
	return (struct moments){ center ? lb_total(sums) : 0, lb_total(squares) };
}

/* The mean, which is off by some 2^-23 deviations at most, as the sum of two floats: what is left of x without the first is exact
 * where x is near it. */
struct statistics {
	float high, low;
	double variance;
};

/* Moments about a number that is far from the mean, beside the deviation, say little of it, but a nearer number. */
static struct statistics statistics_of(int64_t n, const float *x)
{
	enum { TRIES = 2 };
	double first[LB_ROW_LANES] = { 0 };
	int64_t some = n < LB_ROW_LANES ? n : LB_ROW_LANES;
	LB_EACH(i, some) first[i] = (double)x[i];
	double mean = lb_total(first) / (double)some;
	for (int i = 0; i < TRIES; i++) {
		float near = (float)mean;
		struct moments moments = moments_of(true, n, x, near);
		double off = moments.sum / (double)n, variance = moments.squares / (double)n - off * off;
		mean = (double)near + off;
		if (!(off * off > variance)) { /* NaN is not */
			float high = (float)mean;
			return (struct statistics){ high, (float)(mean - (double)high), variance };
		}
	}
	return (struct statistics){ .variance = (double)NAN };
}

/* In float but for the sums of many; in double where that is not enough for the magnitudes. */
static double norm_f32(int64_t n, float *to, const float *x, const float *weight, const float *bias, double eps,
		       bool center)
{
	struct statistics f = center
				  ? statistics_of(n, x)
				  : (struct statistics){ .variance = moments_of(false, n, x, 0).squares / (double)n };
	double scale = 1 / sqrt(f.variance + eps);
	/* so that no square that vanished counts */
	if (!(scale > 1e-30 && scale < 1e12))
		return norm_any_f32(n, to, x, weight, bias, eps, center);
	float by = (float)scale;
	if (weight && bias)
		LB_EACH(i, n) to[i] = (x[i] - f.high - f.low) * by * weight[i] + bias[i];
	else if (weight)
		LB_EACH(i, n) to[i] = (x[i] - f.high - f.low) * by * weight[i];
	else
		LB_EACH(i, n) to[i] = (x[i] - f.high - f.low) * by;
	if (bias && !weight)
		LB_EACH(i, n) to[i] += bias[i];
	return scale;
}

double LB_ISA_NAME(lb_tile_norm)(int64_t n, void *to, const void *x, const void *weight, const void *bias, double eps,
				 bool center, int dtype)
{
	if (dtype == LB_F64)
		return norm_f64(n, to, x, weight, bias, eps, center);
	return norm_f32(n, to, x, weight, bias, eps, center);
}

#define ROTATE(name, T) \
	static void name(int64_t half, bool interleaved, T *to, const T *x, const T *c, const T *s) \
	{ \
		if (interleaved) { \
			LB_EACH(i, half) \
			{ \
				T a = x[2 * i], b = x[2 * i + 1]; \
				to[2 * i] = a * c[i] - b * s[i]; \
				to[2 * i + 1] = a * s[i] + b * c[i]; \
			} \
		} else { \
			LB_EACH(i, half) \
			{ \
				T a = x[i], b = x[half + i]; \
				to[i] = a * c[i] - b * s[i]; \
				to[half + i] = a * s[i] + b * c[i]; \
			} \
		} \
	}
ROTATE(rotate_f32, float)
ROTATE(rotate_f64, double)

void LB_ISA_NAME(lb_tile_rotate)(int64_t half, bool interleaved, void *to, const void *x, const void *cosines,
				 const void *sines, int dtype)
{
	if (dtype == LB_F64)
		rotate_f64(half, interleaved, to, x, cosines, sines);
	else
		rotate_f32(half, interleaved, to, x, cosines, sines);
}

/* With h = (x - mean) * scale and g = grad * weight: scale * (g - mean of g - h * mean of g * h),
 * where the mean of g counts only if the norm centers. */
#define NORM_GRAD(name, T) \
	static void name(int64_t n, T *to, const T *h, const T *grad, const T *weight, double scale, bool center) \
	{ \
		double sums[LB_ROW_LANES] = { 0 }, products[LB_ROW_LANES] = { 0 }; \
		for (int64_t at = 0; at < n; at += LB_ROW_LANES) { \
			int64_t m = n - at < LB_ROW_LANES ? n - at : LB_ROW_LANES; \
			LB_EACH(i, m) \
			{ \
				double g = (double)grad[at + i] * (weight ? (double)weight[at + i] : 1); \
				sums[i] += g; \
				products[i] += g * (double)h[at + i]; \
			} \
		} \
		double mean = center ? lb_total(sums) / (double)n : 0, along = lb_total(products) / (double)n; \
		LB_EACH(i, n) \
		{ \
			double g = (double)grad[i] * (weight ? (double)weight[i] : 1); \
			to[i] = (T)((g - mean - (double)h[i] * along) * scale); \
		} \
	}
NORM_GRAD(norm_grad_f32, float)
NORM_GRAD(norm_grad_f64, double)

void LB_ISA_NAME(lb_tile_norm_grad)(int64_t n, void *to, const void *h, const void *grad, const void *weight,
				    double scale, bool center, int dtype)
{
	if (dtype == LB_F64)
		norm_grad_f64(n, to, h, grad, weight, scale, center);
	else
		norm_grad_f32(n, to, h, grad, weight, scale, center);
}

#define ADD_PRODUCTS(T) LB_EACH(i, n) sums[i] += (double)((const T *)a)[i] * (double)((const T *)b)[i]
#define ADD_TERMS(T) LB_EACH(i, n) sums[i] += (double)((const T *)a)[i]

void LB_ISA_NAME(lb_tile_add_products)(int64_t n, double *sums, const void *a, const void *b, int dtype)
{
	if (dtype == LB_F64 && b)
		ADD_PRODUCTS(double);
	else if (dtype == LB_F64)
		ADD_TERMS(double);
	else if (b)
		ADD_PRODUCTS(float);
	else
		ADD_TERMS(float);
}
