/* ggml's blocks to floats, with the bits that ggml's own to_float gives (ggml-quants.c). An element is an integer code
 * times the step of its group, less the group's least value where the format has one: each format takes these out of its
 * bytes, and all are multiplied and rounded alike. What is in a block, of `elements` in order:
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
 * Where 16 bytes hold 32 nibbles, the low ones are elements 0 … 15. A NaN is a NaN; which one is not said.
 *
 * Codes are taken out of bytes sixteen at a time. */
#include "kernels/codes.h"
#include "kernels/grids.h"
#include "kernels/simd/tiles.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

/* what takes or gives vectors is inlined: no call depends on how they are passed */
#pragma GCC diagnostic ignored "-Wpsabi"

#define INLINE static inline __attribute__((always_inline))
typedef const uint8_t *restrict bytes;
typedef int8_t *restrict codes;
typedef float *restrict floats;

#ifdef __AVX512VL__
enum { LANES = 16 };
#else
enum { LANES = 8 };
#endif
enum { K = 256, SIXTEEN = 16 };
typedef uint8_t sixteen __attribute__((vector_size(SIXTEEN)));
typedef int8_t some_codes __attribute__((vector_size(LANES)));
typedef int32_t ints __attribute__((vector_size(LANES * 4)));
typedef uint64_t two_words __attribute__((vector_size(SIXTEEN)));
typedef uint32_t four_words __attribute__((vector_size(SIXTEEN)));
typedef float reals __attribute__((vector_size(LANES * 4)));

#define FOR_SIXTEENS(i, n) for (int i = 0; i < (n); i += SIXTEEN)

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

INLINE sixteen load(bytes b)
{
	sixteen x;
	memcpy(&x, b, sizeof x);
	return x;
}

INLINE void store(codes to, sixteen x)
{
	memcpy(to, &x, sizeof x);
}

/* In each lane all ones, where the word has the lane's bit; else 0. */
INLINE sixteen where(unsigned bits)
{
	static const sixteen of_lane = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
#ifdef __AVX2__
	static const sixteen byte_of_lane = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1 };
	sixteen spread = (sixteen)_mm_shuffle_epi8(_mm_cvtsi32_si128((int)bits), (__m128i)byte_of_lane);
#else
	const uint64_t ones = 0x0101010101010101;
	sixteen spread = (sixteen)(two_words){ (bits & 255) * ones, (bits >> 8 & 255) * ones };
#endif
	return (sixteen)((spread & of_lane) == of_lane);
}

/* ---- one scale for all ---- */

INLINE void q4_0(bytes b, codes to, floats step, floats least)
{
	sixteen q = load(b + 2);
	(void)least;
	*step = lb_f16_at(b);
	store(to, (q & 15) - 8);
	store(to + 16, (q >> 4) - 8);
}

INLINE void q4_1(bytes b, codes to, floats step, floats least)
{
	sixteen q = load(b + 4);
	*step = lb_f16_at(b);
	*least = -lb_f16_at(b + 2);
	store(to, q & 15);
	store(to + 16, q >> 4);
}

/* Nibbles with a fifth bit. */
INLINE void five_bits(bytes high, bytes low, uint8_t from, codes to)
{
	sixteen q = load(low);
	store(to, ((q & 15) | (where(u16_at(high)) & 16)) - from);
	store(to + 16, ((q >> 4) | (where(u16_at(high + 2)) & 16)) - from);
}

INLINE void q5_0(bytes b, codes to, floats step, floats least)
{
	(void)least;
	*step = lb_f16_at(b);
	five_bits(b + 2, b + 6, 16, to);
}

INLINE void q5_1(bytes b, codes to, floats step, floats least)
{
	*step = lb_f16_at(b);
	*least = -lb_f16_at(b + 2);
	five_bits(b + 4, b + 8, 0, to);
}

INLINE void q8_0(bytes b, codes to, floats step, floats least)
{
	(void)least;
	*step = lb_f16_at(b);
	memcpy(to, b + 2, 32);
}

INLINE void q8_1(bytes b, codes to, floats step, floats least)
{
	(void)least;
	*step = lb_f16_at(b);
	memcpy(to, b + 4, 32);
}

/* The same step for all groups of 32. */
INLINE void one_step(float d, int elements, floats step)
{
	for (int k = 0; k < elements / 32; k++)
		step[k] = d;
}

INLINE void q8_k(bytes b, codes to, floats step, floats least)
{
	(void)least;
	one_step(f32_at(b), K, step);
	memcpy(to, b + 4, K);
}

INLINE void q1_0(bytes b, codes to, floats step, floats least)
{
	(void)least;
	one_step(lb_f16_at(b), 128, step);
	FOR_SIXTEENS(i, 128) store(to + i, (where(u16_at(b + 2 + i / 8)) & 2) - 1);
}

INLINE void q2_0(bytes b, codes to, floats step, floats least)
{
	static const sixteen ones = { 1, 4, 16, 64, 1, 4, 16, 64, 1, 4, 16, 64, 1, 4, 16, 64 };
	(void)least;
	one_step(lb_f16_at(b), 64, step);
	FOR_SIXTEENS(i, 64)
	{
		bytes q = b + 2 + i / 4;
		sixteen spread = (sixteen)((four_words){ q[0], q[1], q[2], q[3] } * 0x01010101);
		sixteen one = (sixteen)((spread & ones) == ones), two = (sixteen)((spread & ones << 1) == ones << 1);
		store(to + i, (one & 1) + (two & 2) - 1);
	}
}

/* n bytes of five ternary digits each: the first digits of all, then the second … A digit is what a multiplication by
 * three carries. */
INLINE void ternary(bytes b, int n, codes to)
{
	FOR_SIXTEENS(i, n)
	{
		sixteen rest = load(b + i);
		for (int k = 0; k < 5; k++) {
			store(to + k * n + i, (sixteen)(rest < 86) - (sixteen)(rest >= 171));
			rest += rest + rest;
		}
	}
}

INLINE void tq1_0(bytes b, codes to, floats step, floats least)
{
	(void)least;
	one_step(lb_f16_at(b + 52), K, step);
	ternary(b, 32, to);
	ternary(b + 32, 16, to + 160);
	for (int i = 0; i < 4; i++) /* and four bytes of four */
		for (int k = 0, rest = b[48 + i]; k < 4; k++, rest = rest * 3 & 255)
			to[240 + k * 4 + i] = (int8_t)((rest * 3 >> 8) - 1);
}

INLINE void tq2_0(bytes b, codes to, floats step, floats least)
{
	(void)least;
	one_step(lb_f16_at(b + 64), K, step);
	for (int half = 0; half < 2; half++, b += 32, to += 128)
		FOR_SIXTEENS(i, 32)
		{
			sixteen q = load(b + i);
			for (int k = 0; k < 4; k++)
				store(to + k * 32 + i, (q >> 2 * k & 3) - 1);
		}
}

/* ---- a scale for each 16 or 32 ---- */

INLINE void q2_k(bytes b, codes to, floats step, floats least)
{
	float d = lb_f16_at(b + 80), m = lb_f16_at(b + 82);
	for (int k = 0; k < 16; k++) {
		step[k] = (float)(b[k] & 15) * d;
		least[k] = (float)(b[k] >> 4) * m;
	}
	b += 16;
	for (int half = 0; half < 2; half++, b += 32, to += 128)
		FOR_SIXTEENS(i, 32)
		{
			sixteen q = load(b + i);
			for (int k = 0; k < 4; k++)
				store(to + k * 32 + i, q >> 2 * k & 3);
		}
}

/* Sixteen scales: of each four bits in the first eight bytes, and two in the other four. */
INLINE void q3_steps(bytes packed, float d, floats step)
{
	uint32_t low[2] = { u32_at(packed), u32_at(packed + 4) }, high = u32_at(packed + 8), scales[4];
	int8_t each[16];
	for (int k = 0; k < 4; k++)
		scales[k] = (low[k % 2] >> k / 2 * 4 & 0x0f0f0f0f) | (high >> 2 * k & 0x03030303) << 4;
	memcpy(each, scales, sizeof each);
	for (int k = 0; k < 16; k++)
		step[k] = (float)(each[k] - 32) * d;
}

INLINE void q3_k(bytes b, codes to, floats step, floats least)
{
	(void)least;
	q3_steps(b + 96, lb_f16_at(b + 108), step);
	for (int half = 0; half < 2; half++, to += 128)
		FOR_SIXTEENS(i, 32)
		{
			sixteen q = load(b + 32 + half * 32 + i), third = load(b + i) >> half * 4;
			for (int k = 0; k < 4; k++)
				store(to + k * 32 + i, (q >> 2 * k & 3) + (third >> k & 1) * 4 - 4);
		}
}

/* The steps and least values of Q4_K and Q5_K. */
INLINE void steps_of(bytes b, floats step, floats least)
{
	float d = lb_f16_at(b), m = lb_f16_at(b + 2);
	for (int k = 0; k < 8; k++) {
		uint8_t scale, min;
		lb_q4_k_scale_and_min(b + 4, k, &scale, &min);
		step[k] = d * (float)scale;
		least[k] = m * (float)min;
	}
}

INLINE void q4_k(bytes b, codes to, floats step, floats least)
{
	steps_of(b, step, least);
	b += 16;
	for (int k = 0; k < 8; k += 2, b += 32, to += 64)
		FOR_SIXTEENS(i, 32)
		{
			sixteen q = load(b + i);
			store(to + i, q & 15);
			store(to + 32 + i, q >> 4);
		}
}

INLINE void q5_k(bytes b, codes to, floats step, floats least)
{
	steps_of(b, step, least);
	for (int k = 0; k < 8; k += 2, to += 64)
		FOR_SIXTEENS(i, 32)
		{
			sixteen q = load(b + 48 + k * 16 + i), high = load(b + 16 + i) >> k;
			store(to + i, (q & 15) | (high << 4 & 16));
			store(to + 32 + i, (q >> 4) | (high << 3 & 16));
		}
}

INLINE void q6_k(bytes b, codes to, floats step, floats least)
{
	float d = lb_f16_at(b + 208);
	(void)least;
	for (int k = 0; k < 16; k++)
		step[k] = (float)(int8_t)b[192 + k] * d;
	for (int half = 0; half < 2; half++, to += 128)
		FOR_SIXTEENS(i, 32)
		{
			sixteen a = load(b + half * 64 + i), c = load(b + half * 64 + 32 + i);
			sixteen high = load(b + 128 + half * 32 + i);
			store(to + i, ((a & 15) | (high << 4 & 48)) - 32);
			store(to + 32 + i, ((c & 15) | (high << 2 & 48)) - 32);
			store(to + 64 + i, ((a >> 4) | (high & 48)) - 32);
			store(to + 96 + i, ((c >> 4) | (high >> 2 & 48)) - 32);
		}
}

/* ---- values that are looked up ---- */

static const int8_t iq4[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };
/* doubled; ggml has no negative zero */
static const int8_t e2m1[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

/* Of n bytes, at most sixteen: the values of low nibbles, and n behind them those of high ones. */
INLINE void look_up(const int8_t *table, bytes q, int n, codes to)
{
#ifdef __AVX2__
	__m128i values = _mm_loadu_si128((const void *)table), nibble = _mm_set1_epi8(15);
	__m128i x = n == 16 ? _mm_loadu_si128((const void *)q) : _mm_loadl_epi64((const void *)q);
	__m128i low = _mm_shuffle_epi8(values, _mm_and_si128(x, nibble));
	__m128i high = _mm_shuffle_epi8(values, _mm_and_si128(_mm_srli_epi16(x, 4), nibble));
	memcpy(to, &low, (size_t)n);
	memcpy(to + n, &high, (size_t)n);
#else
	for (int i = 0; i < n; i++) {
		to[i] = table[q[i] & 15];
		to[n + i] = table[q[i] >> 4];
	}
#endif
}

INLINE void iq4_nl(bytes b, codes to, floats step, floats least)
{
	(void)least;
	*step = lb_f16_at(b);
	look_up(iq4, b + 2, 16, to);
}

INLINE void iq4_xs(bytes b, codes to, floats step, floats least)
{
	float d = lb_f16_at(b);
	unsigned high = u16_at(b + 2);
	(void)least;
	for (int k = 0; k < 8; k++) {
		int scale = (b[4 + k / 2] >> k % 2 * 4 & 15) | (int)(high >> 2 * k & 3) << 4;
		step[k] = d * (float)(scale - 32);
		look_up(iq4, b + 8 + k * 16, 16, to + k * 32);
	}
}

INLINE void mxfp4(bytes b, codes to, floats step, floats least)
{
	(void)least;
	/* half of 2^(e - 127), for the doubled values */
	*step = lb_bits_to_float(b[0] < 2 ? 0x00200000u << b[0] : (uint32_t)(b[0] - 1) << 23);
	look_up(e2m1, b + 1, 16, to);
}

INLINE void nvfp4(bytes b, codes to, floats step, floats least)
{
	(void)least;
	for (int k = 0; k < 4; k++) {
		/* e4m3 by its place in a float, half of it; its sign is not looked at, and 0x7f is 0 */
		uint32_t code = b[k] == 0x7f ? 0 : b[k] & 0x7f;
		step[k] = lb_bits_to_float(code << 20) * 0x1p119f;
		look_up(e2m1, b + 4 + k * 8, 8, to + k * 16);
	}
}

/* ---- groups of a grid ---- */

/* Two groups of eight magnitudes, negative where the signs have a bit. */
INLINE void signed_groups(uint64_t first, uint64_t second, unsigned signs, codes to)
{
	sixteen minus = where(signs);
	store(to, ((sixteen)(two_words){ first, second } ^ minus) - minus);
}

/* Seven signs twice, beside each other; an eighth makes the number of each even. */
INLINE unsigned even_signs(uint32_t first, uint32_t second)
{
	return lb_even_signs[first & 127] | (unsigned)lb_even_signs[second & 127] << 8;
}

INLINE void iq2_xxs(bytes b, codes to, floats step, floats least)
{
	float d = lb_f16_at(b);
	(void)least;
	for (int k = 0; k < 8; k++) {
		bytes q = b + 2 + k * 8;
		uint32_t signs = u32_at(q + 4);
		step[k] = d * (0.5f + (float)(signs >> 28)) * 0.25f;
		for (int i = 0; i < 4; i += 2, to += 16, signs >>= 14)
			signed_groups(lb_grid_iq2_xxs[q[i]], lb_grid_iq2_xxs[q[i + 1]], even_signs(signs, signs >> 7),
				      to);
	}
}

/* Sixteen scales of four bits, each of two groups. */
INLINE void iq2_steps(bytes scales, float d, floats step)
{
	uint8_t each[16];
	for (int k = 0; k < 8; k++) {
		each[2 * k] = scales[k] & 15;
		each[2 * k + 1] = scales[k] >> 4;
	}
	for (int k = 0; k < 16; k++)
		step[k] = d * (0.5f + (float)each[k]) * 0.25f;
}

INLINE void iq2_xs(bytes b, codes to, floats step, floats least)
{
	(void)least;
	iq2_steps(b + 66, lb_f16_at(b), step);
	for (int k = 0; k < 16; k++, to += 16) {
		unsigned first = u16_at(b + 2 + k * 4), second = u16_at(b + 4 + k * 4);
		signed_groups(lb_grid_iq2_xs[first & 511], lb_grid_iq2_xs[second & 511],
			      even_signs(first >> 9, second >> 9), to);
	}
}

INLINE void iq2_s(bytes b, codes to, floats step, floats least)
{
	bytes q = b + 2, signs = b + 34;
	(void)least;
	iq2_steps(b + 74, lb_f16_at(b), step);
	for (int k = 0; k < 16; k++, to += 16) {
		unsigned high = (unsigned)b[66 + k / 2] << 8 >> k % 2 * 4;
		signed_groups(lb_grid_iq2_s[q[k * 2] | (high & 0x300)],
			      lb_grid_iq2_s[q[k * 2 + 1] | (high >> 2 & 0x300)], u16_at(signs + k * 2), to);
	}
}

/* Two groups of four. */
INLINE uint64_t two_fours(const uint32_t *grid, unsigned first, unsigned second)
{
	return grid[first] | (uint64_t)grid[second] << 32;
}

INLINE void iq3_xxs(bytes b, codes to, floats step, floats least)
{
	float d = lb_f16_at(b);
	(void)least;
	for (int k = 0; k < 8; k++) {
		uint32_t signs = u32_at(b + 66 + k * 4);
		bytes q = b + 2 + k * 8;
		step[k] = d * (0.5f + (float)(signs >> 28)) * 0.5f;
		for (int i = 0; i < 8; i += 4, to += 16, signs >>= 14)
			signed_groups(two_fours(lb_grid_iq3_xxs, q[i], q[i + 1]),
				      two_fours(lb_grid_iq3_xxs, q[i + 2], q[i + 3]), even_signs(signs, signs >> 7),
				      to);
	}
}

INLINE void iq3_s(bytes b, codes to, floats step, floats least)
{
	float d = lb_f16_at(b);
	bytes q = b + 2, signs = b + 74;
	(void)least;
	for (int k = 0; k < 8; k++) {
		unsigned high = b[66 + k];
		step[k] = d * (float)(1 + 2 * (b[106 + k / 2] >> k % 2 * 4 & 15));
		for (int i = 0; i < 8; i += 4, to += 16, q += 4, high >>= 4)
			signed_groups(two_fours(lb_grid_iq3_s, q[0] | (high << 8 & 256), q[1] | (high << 7 & 256)),
				      two_fours(lb_grid_iq3_s, q[2] | (high << 6 & 256), q[3] | (high << 5 & 256)),
				      u16_at(signs + k * 4 + i / 2), to);
	}
}

/* Two groups of -1, 0 and 1, each moved by an eighth, down where `down` is 1: in eighths. */
INLINE void moved_groups(uint64_t first, uint64_t second, unsigned down_first, unsigned down_second, codes to)
{
	static const uint64_t moves[2] = { 0x0101010101010101, UINT64_MAX };
	store(to, ((sixteen)(two_words){ first, second } << 3) +
		      (sixteen)(two_words){ moves[down_first], moves[down_second] });
}

/* Steps of n groups, by scales of 3 bits, for codes in eighths. */
INLINE void iq1_steps(const uint8_t *scales, int n, float d, floats step)
{
	for (int k = 0; k < n; k++)
		step[k] = d * (float)(2 * scales[k] + 1) * 0.125f;
}

INLINE void iq1_s(bytes b, codes to, floats step, floats least)
{
	uint8_t scales[8];
	(void)least;
	for (int k = 0; k < 8; k++) {
		unsigned high = u16_at(b + 34 + k * 2), down = high >> 15;
		scales[k] = high >> 12 & 7;
		for (int i = 0; i < 4; i += 2, to += 16, high >>= 6)
			moved_groups(lb_grid_iq1[b[2 + k * 4 + i] | (high & 7) << 8],
				     lb_grid_iq1[b[3 + k * 4 + i] | (high >> 3 & 7) << 8], down, down, to);
	}
	iq1_steps(scales, 8, lb_f16_at(b), step);
}

INLINE void iq1_m(bytes b, codes to, floats step, floats least)
{
	/* four words, each of four scales of 3 bits and, above them, a part of an f16 */
	bytes packed = b + 48;
	unsigned bits = u16_at(packed) >> 12 | (u16_at(packed + 2) >> 8 & 0xf0) | (u16_at(packed + 4) >> 4 & 0xf00) |
			(u16_at(packed + 6) & 0xf000);
	uint8_t scales[16];
	(void)least;
	for (int k = 0; k < 16; k++, to += 16) { /* two groups with a scale */
		unsigned high = b[32 + k];
		scales[k] = u16_at(packed + k / 4 * 2) >> k % 4 * 3 & 7;
		moved_groups(lb_grid_iq1[b[k * 2] | (high & 7) << 8], lb_grid_iq1[b[k * 2 + 1] | (high >> 4 & 7) << 8],
			     high >> 3 & 1, high >> 7, to);
	}
	iq1_steps(scales, 16, lb_f16_to_float((uint16_t)bits), step);
}

/* ---- of all formats ---- */

INLINE void multiply(const int8_t *from, int n, float step, float least, bool has_least, floats to)
{
	for (int i = 0; i < n; i += LANES) {
#ifdef __AVX512VL__
		ints q = (ints)_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)(from + i)));
#elif defined __AVX2__
		ints q = (ints)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)(from + i)));
#else
		some_codes x;
		memcpy(&x, from + i, sizeof x);
		ints q = __builtin_convertvector(x, ints);
#endif
		reals values = __builtin_convertvector(q, reals) * step;
		if (has_least)
			values -= least;
		memcpy(to + i, &values, sizeof values);
	}
}

#define LB_BLOCK(ID, name, text, number, elements, width, group, has_least, ...) \
	static void name##_codes(int64_t n, bytes b, codes to, floats step, floats least) \
	{ \
		for (; n > 0; n--, b += width, to += elements, step += elements / group, least += elements / group) \
			name(b, to, step, least); \
	} \
	static void name##_values(int64_t n, bytes b, floats to) \
	{ \
		int8_t of_block[elements]; \
		float step[elements / group], least[elements / group]; \
		for (; n > 0; n--, b += width, to += elements) { \
			name(b, of_block, step, least); \
			for (int k = 0; k < elements / group; k++) \
				multiply(of_block + k * group, group, step[k], has_least ? least[k] : 0, has_least, \
					 to + k * group); \
		} \
	}
#include "kernels/blocks.def"
#undef LB_BLOCK

const struct lb_block_decoder *LB_ISA_NAME(lb_tile_blocks)(enum lb_encoding encoding)
{
	static const struct lb_block_decoder decoders[LB_ENCODINGS] = {
#define LB_BLOCK(ID, name, ...) [LB_##ID] = { name##_values, name##_codes },
#include "kernels/blocks.def"
#undef LB_BLOCK
	};

	return &decoders[encoding];
}
