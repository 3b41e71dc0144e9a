/* float16 (IEEE 754 binary16) and bfloat16 (the upper half of a float), to and from
 * float, one value at a time; rounding is to nearest even, NaN stays NaN. Shared with
 * the readers. Formulas: IEEE 754-2008, 3.6 and 4.3.1. */
#ifndef LB_KERNELS_HALF_H
#define LB_KERNELS_HALF_H

#include <stdint.h>
#include <string.h>

static inline float lb_bits_to_float(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static inline uint32_t lb_float_to_bits(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

static inline float lb_bf16_to_float(uint16_t h)
{
	return lb_bits_to_float((uint32_t)h << 16);
}

static inline uint16_t lb_float_to_bf16(float f)
{
	uint32_t bits = lb_float_to_bits(f);
	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40); /* quiet the NaN, keep its sign */
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float lb_f16_to_float(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
	if (rest >= 0x7c00) /* Inf, NaN */
		return lb_bits_to_float(sign | 0x7f800000 | (rest & 0x3ff) << 13);
	if (rest >= 0x400) /* normal: rebias the exponent from 15 to 127 */
		return lb_bits_to_float(sign | ((rest << 13) + (112u << 23)));
	/* zero and denormal: rest * 2^-24 is exact in float */
	return lb_bits_to_float(sign | lb_float_to_bits((float)rest * 0x1p-24f));
}

/* Little-endian, unaligned. */
static inline float lb_f16_at(const uint8_t *bytes)
{
	uint16_t h;
	memcpy(&h, bytes, sizeof h);
	return lb_f16_to_float(h);
}

static inline uint16_t lb_float_to_f16(float f)
{
	uint32_t bits = lb_float_to_bits(f), sign = bits >> 16 & 0x8000;
	bits &= 0x7fffffff;
	if (bits > 0x7f800000)
		return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x3ff));
	if (bits >= 0x477ff000) /* 65520 and above round to Inf */
		return (uint16_t)(sign | 0x7c00);
	if (bits < 0x38800000) { /* below 2^-14: adding 0.5 rounds to a multiple of 2^-24 */
		float shifted = lb_bits_to_float(bits) + 0.5f;
		return (uint16_t)(sign | (lb_float_to_bits(shifted) - 0x3f000000));
	}
	return (uint16_t)(sign | ((bits - (112u << 23) + 0xfff + (bits >> 13 & 1)) >> 13));
}

#endif
