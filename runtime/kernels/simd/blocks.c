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
 * Where 16 bytes hold 32 nibbles, the low ones are elements 0 … 15. A NaN is a NaN; which one is not said.
 *
 * Eight or sixteen elements at a time are taken out of their bytes, in lanes of 32 bits. */
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
typedef float *restrict floats;

#ifdef __AVX512VL__
#define HAS_SIXTEEN 1
enum { LANES = 16 };
#else
enum { LANES = 8 };
#endif
enum { K = 256 };
typedef uint8_t some_bytes __attribute__((vector_size(LANES)));
typedef int32_t ints __attribute__((vector_size(LANES * 4)));
typedef float reals __attribute__((vector_size(LANES * 4)));

#define FOR_LANES(i, n) for (int i = 0; i < (n); i += LANES)

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

/* So many bytes; and likewise, with their signs. */
INLINE ints load(bytes b)
{
#ifdef HAS_SIXTEEN
	return (ints)_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)b));
#elif defined __AVX2__
	return (ints)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)b));
#else
	some_bytes x;
	memcpy(&x, b, sizeof x);
	return __builtin_convertvector(x, ints);
#endif
}

INLINE ints load_signed(bytes b)
{
#ifdef HAS_SIXTEEN
	return (ints)_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)b));
#elif defined __AVX2__
	return (ints)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)b));
#else
	return (load(b) ^ 128) - 128;
#endif
}

INLINE reals real(ints x)
{
	return __builtin_convertvector(x, reals);
}

INLINE void store(floats to, reals x)
{
	memcpy(to, &x, sizeof x);
}

/* A bit for each lane; those of element `i` on. */
INLINE unsigned lane_bits(bytes b, int i)
{
	return LANES == 16 ? u16_at(b + i / 8) : b[i / 8];
}

#ifndef HAS_SIXTEEN
static const ints bit_of_lane = { 1, 2, 4, 8, 16, 32, 64, 128 };
#endif

/* In each lane `value`, where the word has the lane's bit. */
INLINE ints where(unsigned bits, int32_t value)
{
#ifdef HAS_SIXTEEN
	return (ints)_mm512_maskz_set1_epi32((__mmask16)bits, value);
#else
	return ((((ints){ 0 } + (int32_t)bits) & bit_of_lane) != 0) & value;
#endif
}

/* x, negative where the word has the lane's bit */
INLINE reals with_signs(reals x, unsigned bits)
{
	return (reals)((ints)x ^ where(bits, INT32_MIN));
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

/* ---- one scale for all ---- */

DECODER(q4_0, 32, 18)
{
	float d = lb_f16_at(b);
	FOR_LANES(i, 16)
	{
		ints q = load(b + 2 + i);
		store(to + i, real((q & 15) - 8) * d);
		store(to + 16 + i, real((q >> 4) - 8) * d);
	}
}

DECODER(q4_1, 32, 20)
{
	float d = lb_f16_at(b), m = lb_f16_at(b + 2);
	FOR_LANES(i, 16)
	{
		ints q = load(b + 4 + i);
		store(to + i, real(q & 15) * d + m);
		store(to + 16 + i, real(q >> 4) * d + m);
	}
}

DECODER(q5_0, 32, 22)
{
	float d = lb_f16_at(b);
	FOR_LANES(i, 16)
	{
		ints q = load(b + 6 + i), low = where(lane_bits(b + 2, i), 16), high = where(lane_bits(b + 4, i), 16);
		store(to + i, real(((q & 15) | low) - 16) * d);
		store(to + 16 + i, real(((q >> 4) | high) - 16) * d);
	}
}

DECODER(q5_1, 32, 24)
{
	float d = lb_f16_at(b), m = lb_f16_at(b + 2);
	FOR_LANES(i, 16)
	{
		ints q = load(b + 8 + i), low = where(lane_bits(b + 4, i), 16), high = where(lane_bits(b + 6, i), 16);
		store(to + i, real((q & 15) | low) * d + m);
		store(to + 16 + i, real((q >> 4) | high) * d + m);
	}
}

INLINE void signed_bytes(bytes b, int n, float d, floats to)
{
	FOR_LANES(i, n) store(to + i, real(load_signed(b + i)) * d);
}

DECODER(q8_0, 32, 34)
{
	signed_bytes(b + 2, 32, lb_f16_at(b), to);
}

DECODER(q8_1, 32, 36)
{
	signed_bytes(b + 4, 32, lb_f16_at(b), to);
}

DECODER(q8_k, K, 292)
{
	signed_bytes(b + 4, K, f32_at(b), to);
}

DECODER(q1_0, 128, 18)
{
	reals minus_d = (reals){ 0 } - lb_f16_at(b);
	FOR_LANES(i, 128) store(to + i, with_signs(minus_d, lane_bits(b + 2, i)));
}

DECODER(q2_0, 64, 18)
{
#ifdef HAS_SIXTEEN
	static const ints places = { 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30 };
#else
	static const ints places = { 0, 2, 4, 6, 8, 10, 12, 14 };
#endif
	float d = lb_f16_at(b);
	FOR_LANES(i, 64)
	{
		uint32_t word = LANES == 16 ? u32_at(b + 2 + i / 4) : u16_at(b + 2 + i / 4);
		ints q = ((ints){ 0 } + (int32_t)word) >> places & 3;
		store(to + i, real(q - 1) * d);
	}
}

/* n bytes of five ternary digits each: the first digits of all, then the second … */
INLINE void ternary(bytes b, int n, float d, floats to)
{
	FOR_LANES(i, n)
	{
		ints rest = load(b + i);
		for (int k = 0; k < 5; k++) {
			ints next = rest + rest + rest;
			store(to + k * n + i, real((next >> 8) - 1) * d);
			rest = next & 255;
		}
	}
}

DECODER(tq1_0, K, 54)
{
	float d = lb_f16_at(b + 52);
	ternary(b, 32, d, to);
	ternary(b + 32, 16, d, to + 160);
	for (int i = 0; i < 4; i++) /* and four bytes of four */
		for (int k = 0, rest = b[48 + i]; k < 4; k++, rest = rest * 3 & 255)
			to[240 + k * 4 + i] = (float)((rest * 3 >> 8) - 1) * d;
}

DECODER(tq2_0, K, 66)
{
	float d = lb_f16_at(b + 64);
	for (int half = 0; half < 2; half++, b += 32, to += 128)
		FOR_LANES(i, 32)
		{
			ints q = load(b + i);
			for (int k = 0; k < 4; k++)
				store(to + k * 32 + i, real((q >> 2 * k & 3) - 1) * d);
		}
}

/* ---- a scale for each 16 or 32 ---- */

DECODER(q2_k, K, 84)
{
	float d = lb_f16_at(b + 80), m = lb_f16_at(b + 82), step[16], least[16];
	FOR_LANES(k, 16)
	{
		store(step + k, real(load(b + k) & 15) * d);
		store(least + k, real(load(b + k) >> 4) * m);
	}
	b += 16;
	for (int half = 0; half < 2; half++, b += 32, to += 128)
		FOR_LANES(i, 32)
		{
			ints q = load(b + i);
			for (int k = 0; k < 4; k++) {
				int group = half * 8 + k * 2 + i / 16;
				store(to + k * 32 + i, real(q >> 2 * k & 3) * step[group] - least[group]);
			}
		}
}

/* Sixteen scales: of each four bits in the first eight bytes, and two in the other four. */
INLINE void q3_steps(bytes packed, float d, floats step)
{
	for (int k = 0; k < 16; k++) {
		int low = packed[k % 8] >> k / 8 * 4 & 15, high = packed[8 + k % 4] >> k / 4 * 2 & 3;
		step[k] = (float)((low | high << 4) - 32) * d;
	}
}

DECODER(q3_k, K, 110)
{
	float step[16];
	q3_steps(b + 96, lb_f16_at(b + 108), step);
	for (int half = 0; half < 2; half++, to += 128)
		FOR_LANES(i, 32)
		{
			ints q = load(b + 32 + half * 32 + i), third = load(b + i) >> half * 4;
			for (int k = 0; k < 4; k++) {
				ints x = (q >> 2 * k & 3) + (third << 2 >> k & 4) - 4;
				store(to + k * 32 + i, real(x) * step[half * 8 + k * 2 + i / 16]);
			}
		}
}

/* The steps and least values of Q4_K and Q5_K. */
INLINE void steps_of(bytes b, float *restrict step, float *restrict least)
{
	float d = lb_f16_at(b), m = lb_f16_at(b + 2);
	for (int k = 0; k < 8; k++) {
		uint8_t scale, min;
		lb_q4_k_scale_and_min(b + 4, k, &scale, &min);
		step[k] = d * (float)scale;
		least[k] = m * (float)min;
	}
}

DECODER(q4_k, K, 144)
{
	float step[8], least[8];
	steps_of(b, step, least);
	b += 16;
	for (int k = 0; k < 8; k += 2, b += 32, to += 64)
		FOR_LANES(i, 32)
		{
			ints q = load(b + i);
			store(to + i, real(q & 15) * step[k] - least[k]);
			store(to + 32 + i, real(q >> 4) * step[k + 1] - least[k + 1]);
		}
}

DECODER(q5_k, K, 176)
{
	float step[8], least[8];
	steps_of(b, step, least);
	for (int k = 0; k < 8; k += 2, to += 64)
		FOR_LANES(i, 32)
		{
			ints q = load(b + 48 + k * 16 + i), high = load(b + 16 + i) >> k;
			store(to + i, real((q & 15) | (high << 4 & 16)) * step[k] - least[k]);
			store(to + 32 + i, real((q >> 4) | (high << 3 & 16)) * step[k + 1] - least[k + 1]);
		}
}

DECODER(q6_k, K, 210)
{
	float step[16];
	signed_bytes(b + 192, 16, lb_f16_at(b + 208), step);
	for (int half = 0; half < 2; half++, to += 128)
		FOR_LANES(i, 32)
		{
			const float *s = step + half * 8 + i / 16;
			ints a = load(b + half * 64 + i), c = load(b + half * 64 + 32 + i);
			ints high = load(b + 128 + half * 32 + i);
			store(to + i, real(((a & 15) | (high << 4 & 48)) - 32) * s[0]);
			store(to + 32 + i, real(((c & 15) | (high << 2 & 48)) - 32) * s[2]);
			store(to + 64 + i, real(((a >> 4) | (high & 48)) - 32) * s[4]);
			store(to + 96 + i, real(((c >> 4) | (high >> 2 & 48)) - 32) * s[6]);
		}
}

/* ---- values that are looked up ---- */

static const int8_t iq4[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };
/* doubled; ggml has no negative zero */
static const int8_t e2m1[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

/* The values of eight bytes' nibbles, times d. */
INLINE void look_up(const int8_t *table, bytes q, float d, floats low, floats high)
{
#ifdef __AVX2__
	__m128i values = _mm_loadu_si128((const void *)table), nibble = _mm_set1_epi8(15);
	__m128i x = _mm_loadl_epi64((const void *)q);
	__m128i l = _mm_shuffle_epi8(values, _mm_and_si128(x, nibble));
	__m128i h = _mm_shuffle_epi8(values, _mm_and_si128(_mm_srli_epi16(x, 4), nibble));
	_mm256_storeu_ps(low, _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(l)), _mm256_set1_ps(d)));
	_mm256_storeu_ps(high, _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(h)), _mm256_set1_ps(d)));
#else
	for (int i = 0; i < 8; i++) {
		low[i] = d * (float)table[q[i] & 15];
		high[i] = d * (float)table[q[i] >> 4];
	}
#endif
}

INLINE void look_up_all(const int8_t *table, bytes q, float d, floats to)
{
#ifdef HAS_SIXTEEN
	__m128i values = _mm_loadu_si128((const void *)table), nibble = _mm_set1_epi8(15);
	__m128i x = _mm_loadu_si128((const void *)q);
	__m128i l = _mm_shuffle_epi8(values, _mm_and_si128(x, nibble));
	__m128i h = _mm_shuffle_epi8(values, _mm_and_si128(_mm_srli_epi16(x, 4), nibble));
	store(to, real((ints)_mm512_cvtepi8_epi32(l)) * d);
	store(to + 16, real((ints)_mm512_cvtepi8_epi32(h)) * d);
#else
	look_up(table, q, d, to, to + 16);
	look_up(table, q + 8, d, to + 8, to + 24);
#endif
}

DECODER(iq4_nl, 32, 18)
{
	look_up_all(iq4, b + 2, lb_f16_at(b), to);
}

DECODER(iq4_xs, K, 136)
{
	float d = lb_f16_at(b);
	unsigned high = u16_at(b + 2);
	for (int k = 0; k < 8; k++, to += 32) {
		int scale = (b[4 + k / 2] >> k % 2 * 4 & 15) | (int)(high >> 2 * k & 3) << 4;
		look_up_all(iq4, b + 8 + k * 16, d * (float)(scale - 32), to);
	}
}

DECODER(mxfp4, 32, 17)
{
	/* half of 2^(e - 127), for the doubled values */
	float d = lb_bits_to_float(b[0] < 2 ? 0x00200000u << b[0] : (uint32_t)(b[0] - 1) << 23);
	look_up_all(e2m1, b + 1, d, to);
}

DECODER(nvfp4, 64, 36)
{
	for (int k = 0; k < 4; k++, to += 16) {
		/* e4m3 by its place in a float, half of it; its sign is not looked at, and 0x7f is 0 */
		uint32_t code = b[k] == 0x7f ? 0 : b[k] & 0x7f;
		look_up(e2m1, b + 4 + k * 8, lb_bits_to_float(code << 20) * 0x1p119f, to, to + 8);
	}
}

/* ---- groups of a grid ---- */

/* The magnitudes of two groups of eight, times d, negative where the signs have a bit. */
INLINE void signed_groups(uint64_t first, uint64_t second, unsigned signs, float d, floats to)
{
#ifdef HAS_SIXTEEN
	__m512 x = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_set_epi64x((int64_t)second, (int64_t)first)));
	__m512 y = _mm512_mul_ps(x, _mm512_set1_ps(d));
	_mm512_storeu_ps(to, _mm512_mask_mul_ps(y, (__mmask16)signs, x, _mm512_set1_ps(-d)));
#else
	store(to, with_signs(real(load((bytes)&first)) * d, signs));
	store(to + 8, with_signs(real(load((bytes)&second)) * d, signs >> 8));
#endif
}

/* Seven signs twice, beside each other; an eighth makes the number of each even. */
INLINE unsigned even_signs(uint32_t first, uint32_t second)
{
	return lb_even_signs[first & 127] | (unsigned)lb_even_signs[second & 127] << 8;
}

DECODER(iq2_xxs, K, 66)
{
	float d = lb_f16_at(b);
	for (int k = 0; k < 8; k++) {
		bytes q = b + 2 + k * 8;
		uint32_t signs = u32_at(q + 4);
		float step = d * (0.5f + (float)(signs >> 28)) * 0.25f;
		for (int i = 0; i < 4; i += 2, to += 16, signs >>= 14)
			signed_groups(lb_grid_iq2_xxs[q[i]], lb_grid_iq2_xxs[q[i + 1]], even_signs(signs, signs >> 7),
				      step, to);
	}
}

/* A scale of four bits, of two groups. */
INLINE float iq2_step(float d, int scale)
{
	return d * (0.5f + (float)(scale & 15)) * 0.25f;
}

DECODER(iq2_xs, K, 74)
{
	float d = lb_f16_at(b);
	for (int k = 0; k < 16; k++, to += 16) {
		float step = iq2_step(d, b[66 + k / 2] >> k % 2 * 4);
		unsigned first = u16_at(b + 2 + k * 4), second = u16_at(b + 4 + k * 4);
		signed_groups(lb_grid_iq2_xs[first & 511], lb_grid_iq2_xs[second & 511],
			      even_signs(first >> 9, second >> 9), step, to);
	}
}

DECODER(iq2_s, K, 82)
{
	float d = lb_f16_at(b);
	bytes q = b + 2, signs = b + 34;
	for (int k = 0; k < 16; k++, to += 16) {
		float step = iq2_step(d, b[74 + k / 2] >> k % 2 * 4);
		unsigned high = (unsigned)b[66 + k / 2] << 8 >> k % 2 * 4;
		signed_groups(lb_grid_iq2_s[q[k * 2] | (high & 0x300)],
			      lb_grid_iq2_s[q[k * 2 + 1] | (high >> 2 & 0x300)], u16_at(signs + k * 2), step, to);
	}
}

/* Two groups of four. */
INLINE uint64_t two_fours(const uint32_t *grid, unsigned first, unsigned second)
{
	return grid[first] | (uint64_t)grid[second] << 32;
}

DECODER(iq3_xxs, K, 98)
{
	float d = lb_f16_at(b);
	for (int k = 0; k < 8; k++) {
		uint32_t signs = u32_at(b + 66 + k * 4);
		float step = d * (0.5f + (float)(signs >> 28)) * 0.5f;
		bytes q = b + 2 + k * 8;
		for (int i = 0; i < 8; i += 4, to += 16, signs >>= 14)
			signed_groups(two_fours(lb_grid_iq3_xxs, q[i], q[i + 1]),
				      two_fours(lb_grid_iq3_xxs, q[i + 2], q[i + 3]), even_signs(signs, signs >> 7),
				      step, to);
	}
}

DECODER(iq3_s, K, 110)
{
	float d = lb_f16_at(b);
	bytes q = b + 2, signs = b + 74;
	for (int k = 0; k < 8; k++) {
		unsigned high = b[66 + k];
		float step = d * (float)(1 + 2 * (b[106 + k / 2] >> k % 2 * 4 & 15));
		for (int i = 0; i < 8; i += 4, to += 16, q += 4, high >>= 4)
			signed_groups(two_fours(lb_grid_iq3_s, q[0] | (high << 8 & 256), q[1] | (high << 7 & 256)),
				      two_fours(lb_grid_iq3_s, q[2] | (high << 6 & 256), q[3] | (high << 5 & 256)),
				      u16_at(signs + k * 4 + i / 2), step, to);
	}
}

/* Two groups of -1, 0 and 1, moved by an eighth: down, where a bit says so. */
INLINE void moved_groups(uint64_t first, uint64_t second, unsigned down, float d, floats to)
{
#ifdef HAS_SIXTEEN
	__m512 x = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_set_epi64x((int64_t)second, (int64_t)first)));
	__m512 moved =
	    _mm512_mask_sub_ps(_mm512_add_ps(x, _mm512_set1_ps(0.125f)), (__mmask16)down, x, _mm512_set1_ps(0.125f));
	_mm512_storeu_ps(to, _mm512_mul_ps(moved, _mm512_set1_ps(d)));
#else
	store(to, (real(load_signed((bytes)&first)) + with_signs((reals){ 0 } + 0.125f, down)) * d);
	store(to + 8, (real(load_signed((bytes)&second)) + with_signs((reals){ 0 } + 0.125f, down >> 8)) * d);
#endif
}

DECODER(iq1_s, K, 50)
{
	float d = lb_f16_at(b);
	for (int k = 0; k < 8; k++) {
		unsigned high = u16_at(b + 34 + k * 2);
		float step = d * (float)(int)(2 * (high >> 12 & 7) + 1);
		unsigned down = high >> 15 ? 0xffff : 0;
		for (int i = 0; i < 4; i += 2, to += 16, high >>= 6)
			moved_groups(lb_grid_iq1[b[2 + k * 4 + i] | (high & 7) << 8],
				     lb_grid_iq1[b[3 + k * 4 + i] | (high >> 3 & 7) << 8], down, step, to);
	}
}

DECODER(iq1_m, K, 56)
{
	bytes scales = b + 48;
	/* the scale is an f16 in four parts, above the groups' scales of 3 bits */
	unsigned bits = u16_at(scales) >> 12 | (u16_at(scales + 2) >> 8 & 0xf0) | (u16_at(scales + 4) >> 4 & 0xf00) |
			(u16_at(scales + 6) & 0xf000);
	float d = lb_f16_to_float((uint16_t)bits);
	for (int k = 0; k < 16; k++, to += 16) { /* two groups with a scale */
		unsigned high = b[32 + k], scale = u16_at(scales + k / 4 * 2) >> k % 4 * 3 & 7;
		float step = d * (float)(int)(2 * scale + 1);
		unsigned down = (high & 8 ? 0xff : 0) | (high & 0x80 ? 0xff00 : 0);
		moved_groups(lb_grid_iq1[b[k * 2] | (high & 7) << 8], lb_grid_iq1[b[k * 2 + 1] | (high >> 4 & 7) << 8],
			     down, step, to);
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
