/* The small number formats of quantised tensors, one value at a time. e2m1, e4m3 and e8m0
 * are those of the OCP Microscaling Formats specification 1.0, 5.3 and 5.4; encoders
 * round half to even and saturate. */
#ifndef LB_KERNELS_CODES_H
#define LB_KERNELS_CODES_H

#include <math.h>

#include "kernels/half.h"
#include "kernels/tile.h"

#define LB_E2M1_VALUES { 0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.f, -0.5f, -1, -1.5f, -2, -3, -4, -6 }
#define LB_E2M1_MAX 6.f
#define LB_E2M1_BYTES 12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0 /* twice the values, and a shift more */
#define LB_E4M3_MAX 448.f
enum { LB_E2M1_SHIFT = 12, LB_E4M3_NAN = 0x7f, LB_E8M0_NAN = 0xff };

static inline int lb_codes_bits(int kind)
{
	static const uint8_t bits[LB_CODES_KINDS] = { 2, 3, 4, 5, 6, 8, 4, 8 };
	return bits[kind];
}

static inline int lb_codes_kind(const struct lb_quant_format *format)
{
	if (format->mode != LB_QUANT_AFFINE)
		return format->bits == 8 ? LB_CODES_E4M3 : LB_CODES_E2M1;
	return format->bits == 8 ? LB_CODES_8 : LB_CODES_2 + format->bits - 2;
}

static inline float lb_e4m3_to_float(uint8_t code)
{
	if ((code & 0x7f) == LB_E4M3_NAN)
		return NAN;
	/* exponent and mantissa in a float's places; 2^120 rebiases from 7 to 127 */
	float magnitude = lb_bits_to_float((uint32_t)(code & 0x7f) << 20) * 0x1p120f;
	return code & 0x80 ? -magnitude : magnitude;
}

static inline float lb_e8m0_to_float(uint8_t code)
{
	/* 0 is the denormal 2^-127, 255 NaN */
	return lb_bits_to_float((uint32_t)code << 23 | (uint32_t)(code == 0 || code == LB_E8M0_NAN) << 22);
}

static inline uint8_t lb_float_to_e4m3(float x)
{
	uint32_t bits = lb_float_to_bits(x), sign = bits >> 24 & 0x80;
	bits &= 0x7fffffff;
	if (bits > 0x7f800000)
		return (uint8_t)(sign | LB_E4M3_NAN);
	if (bits >= 0x43e00000) /* 448 and above */
		return (uint8_t)(sign | 0x7e);
	if (bits < 0x3c800000) { /* below 2^-6: adding 2^14 rounds to a multiple of 2^-9 */
		float shifted = lb_bits_to_float(bits) + 0x1p14f;
		return (uint8_t)(sign | (lb_float_to_bits(shifted) - 0x46800000));
	}
	return (uint8_t)(sign | ((bits - (120u << 23) + 0x7ffff + (bits >> 20 & 1)) >> 20));
}

static inline uint8_t lb_float_to_e2m1(float x)
{
	/* the least magnitudes that round to code 1, 2, …; a tie goes to the even code */
	float a = fabsf(x);
	int code = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) + (a > 2.5f) + (a >= 3.5f) + (a > 5);
	return (uint8_t)(code | (signbit(x) ? 8 : 0));
}

/* The least power of two that is not below x; 1 for 0. x >= 0. */
static inline uint8_t lb_float_to_e8m0(float x)
{
	if (!(x <= 0x1.fffffep127f))
		return LB_E8M0_NAN;
	if (x == 0)
		return 127;
	int exponent;
	bool whole = frexpf(x, &exponent) == 0.5F;
	exponent -= whole;
	return (uint8_t)(exponent < -127 ? 0 : exponent > 127 ? 254 : exponent + 127);
}

/* Of ggml's Q4_K, the k-th of 8 six-bit scales and mins: the first four in bytes 0 … 7, the low
 * four bits of the others in bytes 8 … 11, their high two on top of the first. */
static inline void lb_q4_k_scale_and_min(const uint8_t *packed, int k, uint8_t *scale, uint8_t *min)
{
	if (k < 4) {
		*scale = packed[k] & 63;
		*min = packed[k + 4] & 63;
	} else {
		*scale = (uint8_t)((packed[k + 4] & 15) | (packed[k - 4] >> 6) << 4);
		*min = (uint8_t)((packed[k + 4] >> 4) | (packed[k] >> 6) << 4);
	}
}

#endif
