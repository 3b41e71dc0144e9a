/* Where the largest or the least of many floats is: which it is first, then where it first is. */
#include "kernels/simd/vectors.h"

enum { BLOCK = 64, VECTORS = BLOCK / LB_FLOATS, STRETCH = 512, AHEAD = 1024 /* floats */ };

static inline lb_floats better(bool least, lb_floats a, lb_floats b)
{
	return least ? lb_smaller(a, b) : lb_larger(a, b);
}

/* True if one is NaN; then *ret is nothing. */
static inline bool find_extreme(int64_t n, const float *x, bool least, float *ret)
{
	lb_floats best[VECTORS];
	lb_mask nan[2] = { 0 };
	bool any = false;
	LB_UNROLL
	for (int k = 0; k < VECTORS; k++)
		best[k] = lb_every(x[0]);
	int64_t at = 0;
	for (; at + BLOCK <= n; at += BLOCK) {
		if (at % STRETCH == 0) /* two lines, a page ahead: from there on the processor goes on by itself */
			lb_prefetch(x + at + AHEAD, 128);
		LB_UNROLL
		for (int k = 0; k < VECTORS; k += 2) {
			lb_floats a = lb_load(x + at + k * LB_FLOATS), b = lb_load(x + at + (k + 1) * LB_FLOATS);
			nan[k / 2 % 2] |= lb_where_nan(a, b);
			best[k] = better(least, a, best[k]);
			best[k + 1] = better(least, b, best[k + 1]);
		}
	}
	for (int k = 1; k < VECTORS; k++)
		best[0] = better(least, best[k], best[0]);
	float found = x[0];
	for (int i = 0; i < LB_FLOATS; i++)
		found = (least ? best[0][i] < found : best[0][i] > found) ? best[0][i] : found;
	for (; at < n; at++) {
		any |= x[at] != x[at];
		found = (least ? x[at] < found : x[at] > found) ? x[at] : found;
	}
	*ret = found;
	return any || lb_anywhere(nan[0] | nan[1]);
}

static inline lb_mask where(lb_floats x, float wanted, bool nan)
{
	return nan ? lb_where_nan(x, x) : lb_where_equal(x, lb_every(wanted));
}

static inline bool is_in_block(const float *x, float wanted, bool nan)
{
	lb_mask found = { 0 };
	LB_UNROLL
	for (int k = 0; k < VECTORS; k++)
		found |= where(lb_load(x + k * LB_FLOATS), wanted, nan);
	return lb_anywhere(found);
}

int64_t LB_ISA_NAME(lb_tile_extreme)(int64_t n, const float *x, bool least)
{
	float wanted;
	bool nan = least ? find_extreme(n, x, true, &wanted) : find_extreme(n, x, false, &wanted);
	int64_t at = 0;
	while (at + BLOCK <= n && !is_in_block(x + at, wanted, nan))
		at += BLOCK;
	while (at + LB_FLOATS <= n && !lb_anywhere(where(lb_load(x + at), wanted, nan)))
		at += LB_FLOATS;
	while (nan ? x[at] == x[at] : x[at] != wanted)
		at++;
	return at;
}
