/* Groups of floats, of 16 to 128, on their way to codes. */
#include <math.h>

#include "kernels/simd/tiles.h"

enum { LANES = 16 };

bool LB_ISA_NAME(lb_tile_range)(int64_t n, const float *x, float *low_ret, float *high_ret)
{
	float low[LANES], high[LANES];
	int32_t infinite[LANES] = { 0 }; /* or NaN */
	for (int i = 0; i < LANES; i++) {
		low[i] = (float)INFINITY;
		high[i] = -(float)INFINITY;
	}
	for (int64_t at = 0; at + LANES <= n; at += LANES)
		LB_EACH(i, LANES)
		{
			float v = x[at + i];
			low[i] = v < low[i] ? v : low[i];
			high[i] = v > high[i] ? v : high[i];
			infinite[i] |= !(fabsf(v) < (float)INFINITY);
		}
	for (int half = LANES / 2; half > 0; half /= 2)
		LB_EACH(i, half)
		{
			low[i] = low[i + half] < low[i] ? low[i + half] : low[i];
			high[i] = high[i + half] > high[i] ? high[i + half] : high[i];
			infinite[i] |= infinite[i + half];
		}
	*low_ret = low[0];
	*high_ret = high[0];
	return !infinite[0];
}

void LB_ISA_NAME(lb_tile_affine_codes)(int64_t n, const float *x, float scale, float bias, float most, uint8_t *codes)
{
	LB_EACH(i, n)
	{
		float code = rintf((x[i] - bias) / scale);
		code = code < 0 ? 0 : code;
		code = code > most ? most : code;
		codes[i] = (uint8_t)(int32_t)code;
	}
}
