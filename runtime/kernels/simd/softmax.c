/* Rows of softmax: exp(x - max) / sum. Sums go to LB_ROW_LANES lanes, element i to lane i % LB_ROW_LANES, of double, or of float for
 * few elements at a time. */
#include <math.h>

#include "kernels/simd/vectors.h"

static float largest(int64_t n, const float *x)
{
	lb_floats most[LB_ROW_VECTORS];
	float top = x[0];
	LB_UNROLL
	for (int k = 0; k < LB_ROW_VECTORS; k++)
		most[k] = lb_every(top);
	int64_t at = 0;
	for (; at + LB_ROW_LANES <= n; at += LB_ROW_LANES)
		LB_UNROLL
	for (int k = 0; k < LB_ROW_VECTORS; k++)
		most[k] = lb_larger(lb_load(x + at + k * LB_FLOATS), most[k]);
	for (int k = 1; k < LB_ROW_VECTORS; k++)
		most[0] = lb_larger(most[k], most[0]);
	for (int i = 0; i < LB_FLOATS; i++)
		top = most[0][i] > top ? most[0][i] : top;
	for (; at < n; at++)
		top = x[at] > top ? x[at] : top;
	return top;
}

/* to = exp(x - top), of a multiple of LB_ROW_LANES, and its sums. */
static inline void powers_of(int64_t n, float *to, const float *x, float top, double *lanes)
{
	for (int64_t at = 0; at < n;) {
		lb_floats sums[LB_ROW_VECTORS] = { 0 };
		int64_t end = n - at < LB_ROW_STRETCH ? n : at + LB_ROW_STRETCH;
		for (; at < end; at += LB_ROW_LANES) {
			lb_prefetch(x + n + at, LB_ROW_LANES * sizeof *x);
			LB_UNROLL
			for (int k = 0; k < LB_ROW_VECTORS; k++) {
				lb_floats power = lb_exp_below(lb_load(x + at + k * LB_FLOATS) - top);
				lb_store(to + at + k * LB_FLOATS, power);
				sums[k] += power;
			}
		}
		lb_add_to_lanes(lanes, sums);
	}
}

static void softmax_f32(int64_t n, float *to, const float *x)
{
	double lanes[LB_ROW_LANES] __attribute__((aligned(64))) = { 0 };
	/* A NaN may not be found the largest, but makes the sum, and so everything, NaN. */
	float top = largest(n, x), rest[LB_ROW_LANES];
	int64_t whole = n / LB_ROW_LANES * LB_ROW_LANES;
	powers_of(whole, to, x, top, lanes);
	if (whole < n) {
		LB_EACH(i, LB_ROW_LANES) rest[i] = -INFINITY;
		memcpy(rest, x + whole, (size_t)(n - whole) * sizeof *x);
		powers_of(LB_ROW_LANES, rest, rest, top, lanes);
		memcpy(to + whole, rest, (size_t)(n - whole) * sizeof *x);
	}
	float divisor = (float)lb_total(lanes);
	LB_EACH(i, n) to[i] /= divisor;
}

static void softmax_f64(int64_t n, double *to, const double *x)
{
	double lanes[LB_ROW_LANES] __attribute__((aligned(64))) = { 0 }, top = x[0];
	for (int64_t i = 1; i < n; i++)
		top = x[i] > top ? x[i] : top;
	LB_EACH(i, n) to[i] = x[i] - top;
	LB_ISA_NAME(lb_tile_math)(LB_OP_EXP, LB_F64)(n, to, to, NULL, NULL);
	for (int64_t at = 0; at < n; at += LB_ROW_LANES) {
		int64_t m = n - at < LB_ROW_LANES ? n - at : LB_ROW_LANES;
		LB_EACH(i, m) lanes[i] += to[at + i];
	}
	double divisor = lb_total(lanes);
	LB_EACH(i, n) to[i] /= divisor;
}

void LB_ISA_NAME(lb_tile_softmax)(int64_t n, void *to, const void *x, int dtype)
{
	if (dtype == LB_F64)
		softmax_f64(n, to, x);
	else
		softmax_f32(n, to, x);
}
