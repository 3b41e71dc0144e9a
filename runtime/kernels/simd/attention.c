/* What attention and its gradient do with a row of scores. */
#include <math.h>

#include "kernels/simd/vectors.h"

enum { MOST_LANES = 16 };

/* s = exp(s - top), where powers that would be subnormal are 0, as those of lb_exp_below() are. */
static void powers_f32(int64_t n, float *s, float top)
{
	int64_t i = 0;
	for (; i + LB_FLOATS <= n; i += LB_FLOATS)
		lb_store(s + i, lb_exp_below(lb_load(s + i) - top));
	if (i < n) {
		float rest[LB_FLOATS] = { 0 };
		memcpy(rest, s + i, (size_t)(n - i) * sizeof *s);
		lb_store(rest, lb_exp_below(lb_load(rest) - top));
		memcpy(s + i, rest, (size_t)(n - i) * sizeof *s);
	}
}

static void powers_f64(int64_t n, double *s, double top)
{
	const double low = -708, least = 3.4e-308; /* e^low is less than that, and normal */
	LB_EACH(i, n) s[i] = s[i] - top < low ? low : s[i] - top;
	LB_ISA_NAME(lb_tile_math)(LB_OP_EXP, LB_F64)(n, s, s, NULL, NULL);
	LB_EACH(i, n) s[i] = s[i] < least ? 0 : s[i];
}

#define ATTEND(name, T, powers, exponential) \
	static void name(int64_t n, T *s, const T *bias, const uint8_t *open, T *top, T *sum, int64_t n_values, \
			 T *values) \
	{ \
		T most[MOST_LANES], highest = *top, sums[MOST_LANES] = { 0 }; \
		if (open) \
			LB_EACH(i, n) s[i] = open[i] ? s[i] : -(T)INFINITY; \
		if (bias) \
			LB_EACH(i, n) s[i] += bias[i]; \
		for (int i = 0; i < MOST_LANES; i++) \
			most[i] = highest; \
		for (int64_t at = 0; at < n; at += MOST_LANES) { \
			int64_t m = n - at < MOST_LANES ? n - at : MOST_LANES; \
			LB_EACH(i, m) \
			{ \
				T x = s[at + i], y = most[i]; \
				most[i] = x > y || x != x ? x : y; \
			} \
		} \
		for (int i = 0; i < MOST_LANES; i++) \
			highest = most[i] > highest || most[i] != most[i] ? most[i] : highest; \
		if (highest == -(T)INFINITY) { /* nothing is open yet */ \
			memset(s, 0, (size_t)n * sizeof *s); \
			return; \
		} \
		powers(n, s, highest); \
		for (int64_t at = 0; at < n; at += MOST_LANES) { \
			int64_t m = n - at < MOST_LANES ? n - at : MOST_LANES; \
			LB_EACH(i, m) sums[i] += s[at + i]; \
		} \
		T before = *top == -(T)INFINITY ? 0 : exponential(*top - highest), total = 0; \
		for (int i = 0; i < MOST_LANES; i++) \
			total += sums[i]; \
		*sum = *sum * before + total; \
		*top = highest; \
		if (before != 1) \
			LB_EACH(i, n_values) values[i] *= before; \
	}
ATTEND(attend_f32, float, powers_f32, expf)
ATTEND(attend_f64, double, powers_f64, exp)

void LB_ISA_NAME(lb_tile_attend)(int64_t n, void *scores, const void *bias, const uint8_t *open, void *top, void *sum,
				 int64_t n_values, void *values, int dtype)
{
	if (dtype == LB_F64)
		attend_f64(n, scores, bias, open, top, sum, n_values, values);
	else
		attend_f32(n, scores, bias, open, top, sum, n_values, values);
}

/* stats: the largest score, one over the sum of powers, the sum of p * dp. */
#define ATTEND_GRAD(name, T) \
	static void name(int64_t n, T *p, const T *dp, T *stats) \
	{ \
		T sums[MOST_LANES] = { 0 }, total = 0, inverse = stats[1]; \
		LB_EACH(i, n) p[i] *= inverse; \
		for (int64_t at = 0; at < n; at += MOST_LANES) { \
			int64_t m = n - at < MOST_LANES ? n - at : MOST_LANES; \
			LB_EACH(i, m) sums[i] += p[at + i] * dp[at + i]; \
		} \
		for (int i = 0; i < MOST_LANES; i++) \
			total += sums[i]; \
		stats[2] = total; \
		LB_EACH(i, n) p[i] *= dp[i] - total; \
	}
ATTEND_GRAD(attend_grad_f32, float)
ATTEND_GRAD(attend_grad_f64, double)

void LB_ISA_NAME(lb_tile_attend_grad)(int64_t n, void *p, const void *dp, void *stats, int dtype)
{
	if (dtype == LB_F64)
		attend_grad_f64(n, p, dp, stats);
	else
		attend_grad_f32(n, p, dp, stats);
}

#define ATTEND_AGAIN(name, T, powers) \
	static void name(int64_t n, T *s, T *dp, const T *bias, const uint8_t *open, const T *stats) \
	{ \
		T top = stats[0], inverse = stats[1], total = stats[2]; \
		if (inverse == 0) { \
			memset(s, 0, (size_t)n * sizeof *s); \
			memset(dp, 0, (size_t)n * sizeof *dp); \
			return; \
		} \
		if (open) \
			LB_EACH(i, n) s[i] = open[i] ? s[i] : -(T)INFINITY; \
		if (bias) \
			LB_EACH(i, n) s[i] += bias[i]; \
		powers(n, s, top); \
		LB_EACH(i, n) s[i] *= inverse; \
		LB_EACH(i, n) dp[i] = s[i] * (dp[i] - total); \
	}
ATTEND_AGAIN(attend_again_f32, float, powers_f32)
ATTEND_AGAIN(attend_again_f64, double, powers_f64)

void LB_ISA_NAME(lb_tile_attend_again)(int64_t n, void *scores, void *dp, const void *bias, const uint8_t *open,
				       const void *stats, int dtype)
{
	if (dtype == LB_F64)
		attend_again_f64(n, scores, dp, bias, open, stats);
	else
		attend_again_f32(n, scores, dp, bias, open, stats);
}
