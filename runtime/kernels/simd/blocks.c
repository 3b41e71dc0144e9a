/* ggml's blocks to floats, with the bits that ggml's own to_float gives (ggml-quants.c): the same operations in the
 * same order, each rounded. What is in a block, of `elements` in order:
 *
 *	Q4_0   f16 d | 16 bytes                    (q - 8) * d             Q4_1  f16 d, m | 16 bytes    q * d + m
 *	Q5_0   f16 d | u32 | 16 bytes              (q - 16) * d            Q5_1  f16 d, m | u32 | 16 bytes
 *	       the fifth bits of all are in the u32
 *	Q8_0   f16 d | 32 int8                     q * d                   Q8_1  f16 d, sum | 32 int8
 *	Q1_0   f16 d | 16 bytes, a bit each        d or -d                 Q2_0  f16 d | 16 bytes       (q - 1) * d
 *	Q2_K   16 bytes | 64 bytes | f16 d, m      d * scale * q - m * min; each 16 have 4 bits of a scale and of a min
 *	Q3_K   32 bytes | 64 | 12 | f16 d          d * (scale - 32) * (q - 4); a third bit, two bits, scales of 6 bits
 *	Q4_K   f16 d, m | 12 bytes | 128           d * scale * q - m * min; each 32 have 6 bits of both
 *	Q5_K   f16 d, m | 12 bytes | 32 | 128      likewise, the fifth bits first
 *	Q6_K   128 bytes | 64 | 16 int8 | f16 d    d * scale * (q - 32); low four bits, high two, scales
 *	Q8_K   f32 d | 256 int8 | sums             d * q
 *	IQ2, IQ3, IQ1: indices into a grid of groups (kernels/grids.def), signs or an offset, scales of 32 or 16
 *	IQ4    as Q4_0, but q looks up one of sixteen values; XS has scales of 6 bits for each 32
 *	TQ1_0  48 bytes | 4 | f16 d                five or four ternary digits a byte: (digit - 1) * d
 *	TQ2_0  64 bytes | f16 d                    (q - 1) * d
 *	MXFP4  u8 e | 16 bytes                     e2m1 * 2^(e - 127)
 *	NVFP4  4 e4m3 without sign | 32 bytes      e2m1 * d, a d for each 16
 *
 * Where 16 bytes hold 32 nibbles, the low ones are elements 0 … 15. A NaN is a NaN; which one is not said. */
#include "kernels/codes.h"
#include "kernels/grids.h"
#include "kernels/simd/tiles.h"

#define INLINE static inline __attribute__((always_inline))
typedef const uint8_t *restrict bytes;
typedef float *restrict floats;

enum { K = 256, SUB = 32 };

INLINE float f32_at(bytes b)
{
	float f;
	memcpy(&f, b, sizeof f);
	return f;
}

INLINE uint32_t u32_at(bytes b)
{
	uint32_t u;
	memcpy(&u, b, sizeof u);
	return u;
}

INLINE unsigned u16_at(bytes b)
{
	return (unsigned)(b[0] | b[1] << 8);
}

/* A decoder: `to`, of n blocks at b, of so many elements and bytes. */
#define DECODER(name, elements, width) \
	INLINE void name##_block(bytes b, floats to); \
	static void name(int64_t n, bytes b, floats to) \
	{ \
		for (; n > 0; n--, b += width, to += elements) \
			name##_block(b, to); \
	} \
	INLINE void name##_block(bytes b, floats to)

/* ---- 32 elements, and those without groups ---- */

DECODER(q4_0, 32, 18)
{
	float d = lb_f16_at(b);
	b += 2;
	for (int i = 0; i < 16; i++) {
		to[i] = (float)((b[i] & 15) - 8) * d;
		to[i + 16] = (float)((b[i] >> 4) - 8) * d;
	}
}

DECODER(q4_1, 32, 20)
{
	float d = lb_f16_at(b), m = lb_f16_at(b + 2);
	b += 4;
	for (int i = 0; i < 16; i++) {
		to[i] = (float)(b[i] & 15) * d + m;
		to[i + 16] = (float)(b[i] >> 4) * d + m;
	}
}

/* The fifth bits, each in its own word. */
INLINE void fifth_bits(uint32_t bits, int32_t *restrict to)
{
	for (int i = 0; i < 32; i++)
		to[i] = bits & 1u << i ? 16 : 0;
}

DECODER(q5_0, 32, 22)
{
	float d = lb_f16_at(b);
	int32_t high[32];
	fifth_bits(u32_at(b + 2), high);
	b += 6;
	for (int i = 0; i < 16; i++) {
		to[i] = (float)(((b[i] & 15) | high[i]) - 16) * d;
		to[i + 16] = (float)(((b[i] >> 4) | high[i + 16]) - 16) * d;
	}
}

DECODER(q5_1, 32, 24)
{
	float d = lb_f16_at(b), m = lb_f16_at(b + 2);
	int32_t high[32];
	fifth_bits(u32_at(b + 4), high);
	b += 8;
	for (int i = 0; i < 16; i++) {
		to[i] = (float)((b[i] & 15) | high[i]) * d + m;
		to[i + 16] = (float)((b[i] >> 4) | high[i + 16]) * d + m;
	}
}

DECODER(q8_0, 32, 34)
{
	float d = lb_f16_at(b);
	b += 2;
	for (int i = 0; i < 32; i++)
		to[i] = (float)(int8_t)b[i] * d;
}

DECODER(q8_1, 32, 36)
{
	float d = lb_f16_at(b);
	b += 4;
	for (int i = 0; i < 32; i++)
		to[i] = (float)(int8_t)b[i] * d;
}

DECODER(q8_k, K, 292)
{
	float d = f32_at(b);
	b += 4;
	for (int i = 0; i < K; i++)
		to[i] = d * (float)(int8_t)b[i];
}

DECODER(q1_0, 128, 18)
{
	float d = lb_f16_at(b);
	for (int k = 0; k < 128; k += 32) {
		uint32_t bits = u32_at(b + 2 + k / 8);
		for (int i = 0; i < 32; i++)
			to[k + i] = bits & 1u << i ? d : -d;
	}
}

DECODER(q2_0, 64, 18)
{
	float d = lb_f16_at(b);
	for (int k = 0; k < 64; k += 16) {
		uint32_t q = u32_at(b + 2 + k / 4);
		for (int i = 0; i < 16; i++)
			to[k + i] = (float)((int)(q >> 2 * i & 3) - 1) * d;
	}
}

DECODER(tq1_0, K, 54)
{
	static const uint8_t power[5] = { 1, 3, 9, 27, 81 };
	float d = lb_f16_at(b + 52);
	/* the digits of 32 bytes in turn, then those of 16, then four of 4 */
	for (int at = 0, width = 32; at < 52; at += width, width = at < 48 ? 16 : 4)
		for (int k = 0; k < (width == 4 ? 4 : 5); k++)
			for (int i = 0; i < width; i++)
				*to++ = (float)(((uint8_t)(b[at + i] * power[k]) * 3 >> 8) - 1) * d;
}

DECODER(tq2_0, K, 66)
{
	float d = lb_f16_at(b + 64);
	for (int half = 0; half < 64; half += 32)
		for (int k = 0; k < 8; k += 2)
			for (int i = 0; i < 32; i++)
				*to++ = (float)((b[half + i] >> k & 3) - 1) * d;
}

/* ---- 256 elements in groups ---- */

DECODER(q2_k, K, 84)
{
	bytes scales = b, q = b + 16;
	float d = lb_f16_at(b + 80), m = lb_f16_at(b + 82);
	for (int k = 0; k < 16; k++, to += 16) {
		/* two groups to a shift, four shifts to 32 bytes */
		float step = d * (float)(scales[k] & 15), least = m * (float)(scales[k] >> 4);
		bytes from = q + k / 8 * 32 + k % 2 * 16;
		int shift = k / 2 % 4 * 2;
		for (int i = 0; i < 16; i++)
			to[i] = step * (float)(from[i] >> shift & 3) - least;
	}
}

/* The k-th of sixteen scales: four bits, then two. */
INLINE int q3_scale(bytes packed, int k)
{
	int low = k < 8 ? packed[k] & 15 : packed[k - 8] >> 4;
	return (low | (packed[8 + k % 4] >> k / 4 * 2 & 3) << 4) - 32;
}

DECODER(q3_k, K, 110)
{
	bytes high = b, q = b + 32;
	float d = lb_f16_at(b + 108);
	for (int k = 0; k < 16; k++, to += 16) {
		float step = d * (float)q3_scale(b + 96, k);
		bytes from = q + k / 8 * 32 + k % 2 * 16, third = high + k % 2 * 16;
		int shift = k / 2 % 4 * 2, bit = k / 2;
		for (int i = 0; i < 16; i++)
			to[i] = step * (float)((from[i] >> shift & 3) + (third[i] >> bit & 1) * 4 - 4);
	}
}

DECODER(q4_k, K, 144)
{
	float d = lb_f16_at(b), m = lb_f16_at(b + 2);
	for (int k = 0; k < 8; k++, to += SUB) {
		uint8_t scale, min;
		lb_q4_k_scale_and_min(b + 4, k, &scale, &min);
		float step = d * (float)scale, least = m * (float)min;
		bytes q = b + 16 + k / 2 * 32;
		int shift = k % 2 * 4;
		for (int i = 0; i < SUB; i++)
			to[i] = step * (float)(q[i] >> shift & 15) - least;
	}
}

DECODER(q5_k, K, 176)
{
	float d = lb_f16_at(b), m = lb_f16_at(b + 2);
	bytes high = b + 16;
	for (int k = 0; k < 8; k++, to += SUB) {
		uint8_t scale, min;
		lb_q4_k_scale_and_min(b + 4, k, &scale, &min);
		float step = d * (float)scale, least = m * (float)min;
		bytes q = b + 48 + k / 2 * 32;
		int shift = k % 2 * 4;
		for (int i = 0; i < SUB; i++)
			to[i] = step * (float)((q[i] >> shift & 15) + (high[i] >> k & 1) * 16) - least;
	}
}

DECODER(q6_k, K, 210)
{
	float d = lb_f16_at(b + 208);
	for (int k = 0; k < 16; k++, to += 16) {
		/* half of the block, and within it a quarter: two low nibbles, then two high ones */
		int half = k / 8, quarter = k / 2 % 4;
		float step = d * (float)(int8_t)b[192 + k];
		bytes low = b + half * 64 + quarter % 2 * 32 + k % 2 * 16, high = b + 128 + half * 32 + k % 2 * 16;
		int shift = quarter / 2 * 4;
		for (int i = 0; i < 16; i++)
			to[i] = step * (float)(((low[i] >> shift & 15) | (high[i] >> quarter * 2 & 3) << 4) - 32);
	}
}

/* ---- values that are looked up ---- */

/* The values of 16 bytes' nibbles, times d. */
INLINE void looked_up(const int8_t *table, bytes q, float d, floats low, floats high)
{
	for (int i = 0; i < 16; i++) {
		low[i] = d * (float)table[q[i] & 15];
		high[i] = d * (float)table[q[i] >> 4];
	}
}

static const int8_t iq4[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };
/* doubled; ggml has no negative zero */
static const int8_t e2m1[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

DECODER(iq4_nl, 32, 18)
{
	looked_up(iq4, b + 2, lb_f16_at(b), to, to + 16);
}

DECODER(iq4_xs, K, 136)
{
	float d = lb_f16_at(b);
	unsigned high = u16_at(b + 2);
	for (int k = 0; k < 8; k++, to += SUB) {
		int scale = (b[4 + k / 2] >> k % 2 * 4 & 15) | (int)(high >> 2 * k & 3) << 4;
		looked_up(iq4, b + 8 + k * 16, d * (float)(scale - 32), to, to + 16);
	}
}

DECODER(mxfp4, 32, 17)
{
	/* half of 2^(e - 127), for the doubled values */
	float d = lb_bits_to_float(b[0] < 2 ? 0x00200000u << b[0] : (uint32_t)(b[0] - 1) << 23);
	looked_up(e2m1, b + 1, d, to, to + 16);
}

DECODER(nvfp4, 64, 36)
{
	for (int k = 0; k < 4; k++, to += 16) {
		/* e4m3 by its place in a float, half of it; its sign is not looked at, and 0x7f is 0 */
		uint32_t code = b[k] == 0x7f ? 0 : b[k] & 0x7f;
		float d = lb_bits_to_float(code << 20) * 0x1p119f;
		bytes q = b + 4 + k * 8;
		for (int i = 0; i < 8; i++) {
			to[i] = d * (float)e2m1[q[i] & 15];
			to[i + 8] = d * (float)e2m1[q[i] >> 4];
		}
	}
}

/* ---- groups of a grid ---- */

/* Eight magnitudes times d, negative where the signs have a bit. */
INLINE void signed_group(uint64_t group, unsigned signs, float d, floats to)
{
	for (int i = 0; i < 8; i++) {
		float x = d * (float)(uint8_t)(group >> 8 * i);
		to[i] = signs & 1u << i ? -x : x;
	}
}

/* Seven signs; the eighth makes their number even. */
INLINE unsigned eight_signs(uint32_t seven)
{
	seven &= 127;
	return seven | (unsigned)__builtin_parity(seven) << 7;
}

DECODER(iq2_xxs, K, 66)
{
	float d = lb_f16_at(b);
	for (int k = 0; k < 8; k++) {
		bytes q = b + 2 + k * 8;
		uint32_t signs = u32_at(q + 4);
		float step = d * (0.5f + (float)(signs >> 28)) * 0.25f;
		for (int i = 0; i < 4; i++, to += 8)
			signed_group(lb_grid_iq2_xxs[q[i]], eight_signs(signs >> 7 * i), step, to);
	}
}

/* The scale of group i of each four, two to a byte. */
INLINE float iq2_step(float d, int packed, int i)
{
	return d * (0.5f + (float)(packed >> i / 2 * 4 & 15)) * 0.25f;
}

DECODER(iq2_xs, K, 74)
{
	float d = lb_f16_at(b);
	for (int k = 0; k < 8; k++)
		for (int i = 0; i < 4; i++, to += 8) {
			unsigned q = u16_at(b + 2 + k * 8 + i * 2);
			signed_group(lb_grid_iq2_xs[q & 511], eight_signs(q >> 9), iq2_step(d, b[66 + k], i), to);
		}
}

DECODER(iq2_s, K, 82)
{
	float d = lb_f16_at(b);
	bytes q = b + 2, signs = b + 34;
	for (int k = 0; k < 8; k++)
		for (int i = 0; i < 4; i++, to += 8) {
			unsigned at = q[k * 4 + i] | (b[66 + k] << (8 - 2 * i) & 0x300);
			signed_group(lb_grid_iq2_s[at], signs[k * 4 + i], iq2_step(d, b[74 + k], i), to);
		}
}

DECODER(iq3_xxs, K, 98)
{
	float d = lb_f16_at(b);
	for (int k = 0; k < 8; k++) {
		uint32_t signs = u32_at(b + 66 + k * 4);
		float step = d * (0.5f + (float)(signs >> 28)) * 0.5f;
		bytes q = b + 2 + k * 8;
		for (int i = 0; i < 4; i++, to += 8) {
			uint64_t group = lb_grid_iq3_xxs[q[2 * i]] | (uint64_t)lb_grid_iq3_xxs[q[2 * i + 1]] << 32;
			signed_group(group, eight_signs(signs >> 7 * i), step, to);
		}
	}
}

DECODER(iq3_s, K, 110)
{
	float d = lb_f16_at(b);
	bytes q = b + 2, signs = b + 74;
	for (int k = 0; k < 8; k++) {
		unsigned high = b[66 + k];
		float step = d * (float)(1 + 2 * (b[106 + k / 2] >> k % 2 * 4 & 15));
		for (int i = 0; i < 4; i++, to += 8) {
			unsigned first = q[k * 8 + 2 * i] | (high << (8 - 2 * i) & 256);
			unsigned second = q[k * 8 + 2 * i + 1] | (high << (7 - 2 * i) & 256);
			uint64_t group = lb_grid_iq3_s[first] | (uint64_t)lb_grid_iq3_s[second] << 32;
			signed_group(group, signs[k * 4 + i], step, to);
		}
	}
}

/* -1, 0 and 1, moved by an eighth. */
INLINE void moved_group(uint64_t group, bool down, float d, floats to)
{
	float by = down ? -0.125f : 0.125f;
	for (int i = 0; i < 8; i++)
		to[i] = d * ((float)(int8_t)(group >> 8 * i) + by);
}

DECODER(iq1_s, K, 50)
{
	float d = lb_f16_at(b);
	for (int k = 0; k < 8; k++) {
		unsigned high = u16_at(b + 34 + k * 2);
		float step = d * (float)(2 * (high >> 12 & 7) + 1);
		for (int i = 0; i < 4; i++, to += 8)
			moved_group(lb_grid_iq1[b[2 + k * 4 + i] | (high >> 3 * i & 7) << 8], high & 0x8000, step, to);
	}
}

DECODER(iq1_m, K, 56)
{
	bytes scales = b + 48;
	/* the scale is an f16 in four parts, above the groups' scales of 3 bits */
	unsigned bits = u16_at(scales) >> 12 | (u16_at(scales + 2) >> 8 & 0xf0) | (u16_at(scales + 4) >> 4 & 0xf00) |
			(u16_at(scales + 6) & 0xf000);
	float d = lb_f16_to_float((uint16_t)bits);
	for (int k = 0; k < 8; k++)
		for (int i = 0; i < 4; i++, to += 8) {
			unsigned high = b[32 + k * 2 + i / 2] >> i % 2 * 4;
			unsigned scale = u16_at(scales + k / 2 * 2) >> (k % 2 * 6 + i / 2 * 3) & 7;
			moved_group(lb_grid_iq1[b[k * 4 + i] | (high & 7) << 8], high & 8, d * (float)(2 * scale + 1),
				    to);
		}
}

lb_block_fn *LB_ISA_NAME(lb_tile_blocks)(enum lb_encoding encoding)
{
	static lb_block_fn *const decoders[LB_ENCODINGS] = {
#define LB_BLOCK(ID, decoder, name, number, elements, bytes) [LB_##ID] = decoder,
#include "kernels/blocks.def"
#undef LB_BLOCK
	};

	return decoders[encoding];
}
