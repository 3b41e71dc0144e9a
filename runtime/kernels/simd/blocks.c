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
 * Codes are taken out of bytes sixteen at a time, or thirty-two. */
#include "kernels/codes.h"
#include "kernels/grids.h"
#include "kernels/simd/tiles.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))
typedef const uint8_t *restrict bytes;
typedef int8_t *restrict codes;
typedef float *restrict floats;
typedef int32_t *restrict sums;

/* Floats that are multiplied at once, and bytes that are taken at once. */
#ifdef __AVX512VL__
enum { LANES = 16 };
#else
enum { LANES = 8 };
#endif
#ifdef __AVX2__
enum { WIDE = 32 };
#else
enum { WIDE = 16 };
#endif
enum { K = 256, SIXTEEN = 16 };
typedef uint8_t sixteen __attribute__((vector_size(SIXTEEN)));
typedef uint8_t lb_wide __attribute__((vector_size(WIDE)));
typedef uint32_t wide_words __attribute__((vector_size(WIDE)));
typedef int32_t ints __attribute__((vector_size(LANES * 4)));
typedef uint64_t two_words __attribute__((vector_size(SIXTEEN)));
typedef uint32_t four_words __attribute__((vector_size(SIXTEEN)));
typedef uint64_t wide_longs __attribute__((vector_size(WIDE)));
typedef uint32_t eight __attribute__((vector_size(32)));
typedef int32_t eight_ints __attribute__((vector_size(32)));
typedef float eight_reals __attribute__((vector_size(32)));
typedef uint16_t eight_shorts __attribute__((vector_size(SIXTEEN)));
typedef uint16_t sixteen_shorts __attribute__((vector_size(32)));
typedef float reals __attribute__((vector_size(LANES * 4)));

#define FOR_SIXTEENS(i, n) for (int i = 0; i < (n); i += SIXTEEN)
#define FOR_WIDES(i, n) for (int i = 0; i < (n); i += WIDE)

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

INLINE lb_wide load_wide(bytes b)
{
	lb_wide x;
	memcpy(&x, b, sizeof x);
	return x;
}

INLINE void store_wide(codes to, lb_wide x)
{
	memcpy(to, &x, sizeof x);
}

#define EACH_BIT 1, 2, 4, 8, 16, 32, 64, 128
#define EIGHT(i) i, i, i, i, i, i, i, i
#define SPREAD(bits, i) ((bits) >> 8 * (i) & 255) * (uint64_t)0x0101010101010101

/* In each lane all ones, where the word has the lane's bit; else 0. */
INLINE sixteen where(unsigned bits)
{
#ifdef __AVX512VL__
	return (sixteen)_mm_movm_epi8((__mmask16)bits);
#else
	static const sixteen of_lane = { EACH_BIT, EACH_BIT };
#ifdef __AVX2__
	static const sixteen byte_of_lane = { EIGHT(0), EIGHT(1) };
	sixteen spread = (sixteen)_mm_shuffle_epi8(_mm_cvtsi32_si128((int)bits), (__m128i)byte_of_lane);
#else
	sixteen spread = (sixteen)(two_words){ SPREAD(bits, 0), SPREAD(bits, 1) };
#endif
	return (sixteen)((spread & of_lane) == of_lane);
#endif
}

/* Likewise where bits from here on are 1. */
INLINE lb_wide where_bits(bytes b)
{
#ifdef __AVX512VL__
	return (lb_wide)_mm256_movm_epi8(u32_at(b));
#elif defined __AVX2__
	static const lb_wide of_lane = { EACH_BIT, EACH_BIT, EACH_BIT, EACH_BIT };
	static const lb_wide byte_of_lane = { EIGHT(0), EIGHT(1), EIGHT(2), EIGHT(3) };
	lb_wide spread = (lb_wide)_mm256_shuffle_epi8(_mm256_set1_epi32((int)u32_at(b)), (__m256i)byte_of_lane);
	return (lb_wide)((spread & of_lane) == of_lane);
#else
	return where(u16_at(b));
#endif
}

/* ---- codes and scales to floats ---- */

INLINE void multiply(const int8_t *from, int n, float step, float least, bool has_least, floats to)
{
#ifdef __AVX2__
	for (int i = 0; i < n; i += LANES) {
#ifdef __AVX512VL__
		ints q = (ints)_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)(from + i)));
#else
		ints q = (ints)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)(from + i)));
#endif
		reals values = __builtin_convertvector(q, reals) * step;
		if (has_least)
			values -= least;
		memcpy(to + i, &values, sizeof values);
	}
#else
	for (int i = 0; i < n; i++) {
		float value = (float)from[i] * step;
		to[i] = has_least ? value - least : value;
	}
#endif
}

/* Scales, of which n are looked at, times the block's own. */
INLINE void multiply_all(sixteen scales, int n, float d, floats to)
{
	int8_t from[SIXTEEN];
	float all[SIXTEEN];

	memcpy(from, &scales, sizeof from);
	multiply(from, SIXTEEN, d, 0, false, all);
	memcpy(to, all, (size_t)n * sizeof *to);
}

INLINE void multiply_eight(eight scales, float d, floats to)
{
	eight_reals products = __builtin_convertvector((eight_ints)scales, eight_reals) * d;
	memcpy(to, &products, sizeof products);
}

static const eight each_one = { 0, 1, 2, 3, 4, 5, 6, 7 };

/* Of a word, from each of these bits on. */
INLINE eight from_bits(uint32_t word, eight shifts)
{
#ifdef __AVX2__
	return word >> shifts;
#else
	eight x;
	uint32_t each[8];
	for (int i = 0; i < 8; i++)
		each[i] = word >> shifts[i];
	memcpy(&x, each, sizeof x);
	return x;
#endif
}

/* Eight of four bits each, lower bits first. */
INLINE eight nibbles(bytes b)
{
	return from_bits(u32_at(b), each_one * 4) & 15;
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

INLINE void q8_k(bytes b, codes to, floats step, floats least)
{
	(void)least;
	*step = f32_at(b);
	memcpy(to, b + 4, K);
}

INLINE void q1_0(bytes b, codes to, floats step, floats least)
{
	(void)least;
	*step = lb_f16_at(b);
	FOR_WIDES(i, 128) store_wide(to + i, (where_bits(b + 2 + i / 8) & 2) - 1);
}

INLINE void q1_0_sums(bytes b, sums sum, sums square, floats step)
{
	uint64_t bits[2];
	*step = lb_f16_at(b);
	memcpy(bits, b + 2, sizeof bits);
	*sum = 2 * (__builtin_popcountll(bits[0]) + __builtin_popcountll(bits[1])) - 128;
	*square = 128;
}

/* Each of some bytes four times. */
INLINE lb_wide four_times(bytes b)
{
#ifdef __AVX2__
	static const wide_words lanes = { 0x00000000, 0x01010101, 0x02020202, 0x03030303,
					  0x04040404, 0x05050505, 0x06060606, 0x07070707 };
	__m256i all = _mm256_broadcastq_epi64(_mm_loadl_epi64((const void *)b));
	return (lb_wide)_mm256_shuffle_epi8(all, (__m256i)lanes);
#else
	return (lb_wide)((wide_words){ b[0], b[1], b[2], b[3] } * 0x01010101);
#endif
}

INLINE void q2_0(bytes b, codes to, floats step, floats least)
{
	(void)least;
	*step = lb_f16_at(b);
	FOR_WIDES(i, 64)
	{
		const lb_wide ones = (lb_wide)((wide_words){ 0 } + 0x40100401), spread = four_times(b + 2 + i / 4);
		lb_wide one = (lb_wide)((spread & ones) == ones), two = (lb_wide)((spread & ones << 1) == ones << 1);
		store_wide(to + i, (one & 1) + (two & 2) - 1);
	}
}

/* Bytes of five ternary digits each: the first digits of all, then the second … A digit is what a multiplication by
 * three carries. */
#define TERNARY(type, load, store, apart, b, to) \
	do { \
		type rest = load(b); \
		for (int k = 0; k < 5; k++, rest += rest + rest) \
			store(to + k * (apart), (type)(rest < 86) - (type)(rest >= 171)); \
	} while (0)

INLINE void tq1_0(bytes b, codes to, floats step, floats least)
{
	(void)least;
	*step = lb_f16_at(b + 52);
	FOR_WIDES(i, 32) TERNARY(lb_wide, load_wide, store_wide, 32, b + i, to + i);
	TERNARY(sixteen, load, store, 16, b + 32, to + 160);
	for (int i = 0; i < 4; i++) /* and four bytes of four */
		for (int k = 0, rest = b[48 + i]; k < 4; k++, rest = rest * 3 & 255)
			to[240 + k * 4 + i] = (int8_t)((rest * 3 >> 8) - 1);
}

INLINE void tq2_0(bytes b, codes to, floats step, floats least)
{
	(void)least;
	*step = lb_f16_at(b + 64);
	for (int half = 0; half < 2; half++, b += 32, to += 128)
		FOR_WIDES(i, 32)
		{
			lb_wide q = load_wide(b + i);
			for (int k = 0; k < 4; k++)
				store_wide(to + k * 32 + i, (q >> 2 * k & 3) - 1);
		}
}

/* ---- a scale for each 16 or 32 ---- */

INLINE void q2_k(bytes b, codes to, floats step, floats least)
{
	sixteen scales = load(b);
	multiply_all(scales & 15, 16, lb_f16_at(b + 80), step);
	multiply_all(scales >> 4, 16, lb_f16_at(b + 82), least);
	b += 16;
	for (int half = 0; half < 2; half++, b += 32, to += 128)
		FOR_WIDES(i, 32)
		{
			lb_wide q = load_wide(b + i);
			for (int k = 0; k < 4; k++)
				store_wide(to + k * 32 + i, q >> 2 * k & 3);
		}
}

/* Sixteen scales: of each four bits in the first eight bytes, and two in the other four. */
INLINE void q3_steps(bytes packed, float d, floats step)
{
	uint32_t first = u32_at(packed), second = u32_at(packed + 4);
	four_words low = { first, second, first >> 4, second >> 4 };
	four_words high = u32_at(packed + 8) >> (four_words){ 0, 2, 4, 6 };
	multiply_all((sixteen)((low & 0x0f0f0f0f) | (high & 0x03030303) << 4) - 32, 16, d, step);
}

INLINE void q3_k(bytes b, codes to, floats step, floats least)
{
	(void)least;
	q3_steps(b + 96, lb_f16_at(b + 108), step);
	for (int half = 0; half < 2; half++, to += 128)
		FOR_WIDES(i, 32)
		{
			/* shifted as words: what comes from the next byte is masked */
			wide_words q = (wide_words)load_wide(b + 32 + half * 32 + i),
				   third = (wide_words)load_wide(b + i);
			third = half ? third >> 2 : third << 2;
			for (int k = 0; k < 4; k++)
				store_wide(to + k * 32 + i,
					   ((lb_wide)(q >> 2 * k) & 3) + ((lb_wide)(third >> k) & 4) - 4);
		}
}

/* The steps and least values of Q4_K and Q5_K. */
INLINE void steps_of(bytes b, floats step, floats least)
{
	sixteen scales = { 0 }, mins = { 0 };
	for (int k = 0; k < 8; k++) {
		uint8_t scale, min;
		lb_q4_k_scale_and_min(b + 4, k, &scale, &min);
		scales[k] = scale;
		mins[k] = min;
	}
	multiply_all(scales, 8, lb_f16_at(b), step);
	multiply_all(mins, 8, lb_f16_at(b + 2), least);
}

INLINE void q4_k(bytes b, codes to, floats step, floats least)
{
	steps_of(b, step, least);
	b += 16;
	for (int k = 0; k < 8; k += 2, b += 32, to += 64)
		FOR_WIDES(i, 32)
		{
			lb_wide q = load_wide(b + i);
			store_wide(to + i, q & 15);
			store_wide(to + 32 + i, q >> 4);
		}
}

INLINE void q5_k(bytes b, codes to, floats step, floats least)
{
	steps_of(b, step, least);
	for (int k = 0; k < 8; k += 2, to += 64)
		FOR_WIDES(i, 32)
		{
			lb_wide q = load_wide(b + 48 + k * 16 + i), high = load_wide(b + 16 + i) >> k;
			store_wide(to + i, (q & 15) | (high << 4 & 16));
			store_wide(to + 32 + i, (q >> 4) | (high << 3 & 16));
		}
}

INLINE void q6_k(bytes b, codes to, floats step, floats least)
{
	(void)least;
	multiply_all(load(b + 192), 16, lb_f16_at(b + 208), step);
	for (int half = 0; half < 2; half++, to += 128)
		FOR_WIDES(i, 32)
		{
			lb_wide a = load_wide(b + half * 64 + i), c = load_wide(b + half * 64 + 32 + i);
			lb_wide high = load_wide(b + 128 + half * 32 + i);
			store_wide(to + i, ((a & 15) | (high << 4 & 48)) - 32);
			store_wide(to + 32 + i, ((c & 15) | (high << 2 & 48)) - 32);
			store_wide(to + 64 + i, ((a >> 4) | (high & 48)) - 32);
			store_wide(to + 96 + i, ((c >> 4) | (high >> 2 & 48)) - 32);
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
	eight high = from_bits(u16_at(b + 2), each_one * 2) & 3;
	(void)least;
	multiply_eight((nibbles(b + 4) | high << 4) - 32, lb_f16_at(b), step);
	for (int k = 0; k < 8; k++)
		look_up(iq4, b + 8 + k * 16, 16, to + k * 32);
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

INLINE void put_eight(uint32_t *to, eight x)
{
	memcpy(to, &x, sizeof x);
}

/* The places of eight groups in a grid: of each the lower eight bits are a byte, those above them the ones that `mask` has, of
 * a word from a bit on. */
INLINE void put_places(uint32_t *to, bytes low, uint32_t word, eight shifts, uint32_t mask)
{
#ifdef __AVX2__
	put_eight(to, (eight)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)low)) | (word >> shifts & mask) << 8);
#else
	for (int i = 0; i < 8; i++)
		to[i] = low[i] | (word >> shifts[i] & mask) << 8;
#endif
}

/* What a loop looks up was stored as vectors: unrolled, gcc would take these apart. */
#define ONE_BY_ONE _Pragma("GCC unroll 1")

/* As many groups of eight elements, or of four, as are lb_wide. */
#ifdef __AVX2__
#define EIGHTS(grid, q) \
	(lb_wide)(wide_longs) \
	{ \
		grid[(q)[0]], grid[(q)[1]], grid[(q)[2]], grid[(q)[3]] \
	}
#define FOURS(grid, q) \
	(lb_wide)(wide_words) \
	{ \
		grid[(q)[0]], grid[(q)[1]], grid[(q)[2]], grid[(q)[3]], grid[(q)[4]], grid[(q)[5]], grid[(q)[6]], \
		    grid[(q)[7]] \
	}
#else
#define EIGHTS(grid, q) \
	(lb_wide)(wide_longs) \
	{ \
		grid[(q)[0]], grid[(q)[1]] \
	}
#define FOURS(grid, q) \
	(lb_wide)(wide_longs){ grid[(q)[0]] | (uint64_t)grid[(q)[1]] << 32, \
			       grid[(q)[2]] | (uint64_t)grid[(q)[3]] << 32 }
#endif

/* 32 magnitudes, of groups that q has the places of, negative where the signs have a bit. */
#define STORE_SIGNED(GROUPS, elements, grid, q, signs, to) \
	FOR_WIDES(i, 32) \
	{ \
		lb_wide minus = where_bits((bytes)(signs) + i / 8); \
		store_wide((to) + i, (GROUPS(grid, (q) + i / (elements)) ^ minus) - minus); \
	}

/* Bytes of seven signs, and an eighth that makes the number of each even. Of `odd` the lowest bit of each byte counts. */
INLINE eight even(eight seven)
{
	eight odd = seven ^ seven >> 4;
	odd ^= odd >> 2;
	odd ^= odd >> 1;
	return seven | (odd & 0x01010101) << 7;
}

/* Words of four times seven signs, above them a scale. */
INLINE void signs_and_steps(eight words, float d, uint32_t *signs, floats step)
{
	eight seven = (words & 0x7f) | (words << 1 & 0x7f00) | (words << 2 & 0x7f0000) | (words << 3 & 0x7f000000);
	put_eight(signs, even(seven));
	multiply_eight(2 * (words >> 28) + 1, d, step);
}

/* Of eight pairs of words the second ones. */
INLINE eight second_words(bytes b)
{
#ifdef __AVX2__
	__m256 first = _mm256_loadu_ps((const void *)b), last = _mm256_loadu_ps((const void *)(b + 32));
	__m256i both = _mm256_castps_si256(_mm256_shuffle_ps(first, last, 0xdd));
	return (eight)_mm256_permute4x64_epi64(both, 0xd8);
#else
	return (eight){ u32_at(b + 4),  u32_at(b + 12), u32_at(b + 20), u32_at(b + 28),
			u32_at(b + 36), u32_at(b + 44), u32_at(b + 52), u32_at(b + 60) };
#endif
}

INLINE void iq2_xxs(bytes b, codes to, floats step, floats least)
{
	uint32_t signs[8];
	(void)least;
	signs_and_steps(second_words(b + 2), lb_f16_at(b) * 0.125f, signs, step);
	for (int k = 0; k < 8; k++)
		STORE_SIGNED(EIGHTS, 8, lb_grid_iq2_xxs, b + 2 + k * 8, signs + k, to + k * 32)
}

/* Sixteen scales of four bits, each of two groups. */
INLINE void iq2_steps(bytes scales, float d, floats step)
{
	multiply_eight(2 * nibbles(scales) + 1, d * 0.125f, step);
	multiply_eight(2 * nibbles(scales + 4) + 1, d * 0.125f, step + 8);
}

INLINE void iq2_xs(bytes b, codes to, floats step, floats least)
{
	uint16_t q[32];
	int8_t signs[32];
	(void)least;
	iq2_steps(b + 66, lb_f16_at(b), step);
	FOR_SIXTEENS(i, 32)
	{
		sixteen_shorts words, place;
		memcpy(&words, b + 2 + i * 2, sizeof words);
		place = words & 511;
		memcpy(q + i, &place, sizeof place);
		store(signs + i, __builtin_convertvector((sixteen_shorts)even((eight)(words >> 9)), sixteen));
	}
	ONE_BY_ONE
	for (int k = 0; k < 8; k++)
		STORE_SIGNED(EIGHTS, 8, lb_grid_iq2_xs, q + k * 4, (bytes)signs + k * 4, to + k * 32)
}

INLINE void iq2_s(bytes b, codes to, floats step, floats least)
{
	uint32_t q[32];
	(void)least;
	iq2_steps(b + 74, lb_f16_at(b), step);
	for (int k = 0; k < 4; k++)
		put_places(q + k * 8, b + 2 + k * 8, u16_at(b + 66 + k * 2), each_one * 2, 3);
	ONE_BY_ONE
	for (int k = 0; k < 8; k++)
		STORE_SIGNED(EIGHTS, 8, lb_grid_iq2_s, q + k * 4, b + 34 + k * 4, to + k * 32)
}

INLINE void iq3_xxs(bytes b, codes to, floats step, floats least)
{
	uint32_t signs[8];
	eight words;
	(void)least;
	memcpy(&words, b + 66, sizeof words);
	signs_and_steps(words, lb_f16_at(b) * 0.25f, signs, step);
	for (int k = 0; k < 8; k++)
		STORE_SIGNED(FOURS, 4, lb_grid_iq3_xxs, b + 2 + k * 8, signs + k, to + k * 32)
}

INLINE void iq3_s(bytes b, codes to, floats step, floats least)
{
	uint32_t q[64];
	(void)least;
	multiply_eight(2 * nibbles(b + 106) + 1, lb_f16_at(b), step);
	for (int k = 0; k < 8; k++)
		put_places(q + k * 8, b + 2 + k * 8, b[66 + k], each_one, 1);
	ONE_BY_ONE
	for (int k = 0; k < 8; k++)
		STORE_SIGNED(FOURS, 4, lb_grid_iq3_s, q + k * 8, b + 74 + k * 4, to + k * 32)
}

/* 32 elements: groups of -1, 0 and 1, each moved by an eighth, down where bit 11 of its place is 1; in eighths. */
INLINE void store_moved(const uint32_t *q, codes to)
{
	FOR_WIDES(i, 32)
	{
		const uint32_t *some = q + i / 8;
#ifdef __AVX2__
		const unsigned places[] = { some[0] & 2047, some[1] & 2047, some[2] & 2047, some[3] & 2047 };
		__m256i which = _mm256_cvtepu32_epi64(_mm_loadu_si128((const void *)some));
		lb_wide down = (lb_wide)_mm256_cmpgt_epi64(which, _mm256_set1_epi64x(2047));
#else
		const unsigned places[] = { some[0] & 2047, some[1] & 2047 };
		lb_wide down = (lb_wide)(wide_longs){ -(uint64_t)(some[0] >> 11), -(uint64_t)(some[1] >> 11) };
#endif
		store_wide(to + i, (EIGHTS(lb_grid_iq1, places) << 3) + (down | 1));
	}
}

/* Places of the 32 groups of a block, with how they are moved; and the steps, of codes in eighths. */
INLINE void iq1_s_places(bytes b, uint32_t *to, floats step)
{
	uint32_t fours[4];
	four_words q, down;
	eight_shorts words;
	memcpy(&q, b + 34, sizeof q);
	memcpy(&words, b + 34, sizeof words);
	multiply_eight(2 * (__builtin_convertvector(words, eight) >> 12 & 7) + 1, lb_f16_at(b) * 0.125f, step);
	/* of 16 bits four times three, and one for all of them: four times four */
	down = q & 0x80008000;
	q = (q & 0x00070007) | (q & 0x00380038) << 1 | (q & 0x01c001c0) << 2 | (q & 0x0e000e00) << 3;
	q |= down | down >> 4 | down >> 8 | down >> 12;
	memcpy(fours, &q, sizeof fours);
	for (int k = 0; k < 4; k++)
		put_places(to + k * 8, b + 2 + k * 8, fours[k], each_one * 4, 15);
}

INLINE void iq1_m_places(bytes b, uint32_t *to, floats step)
{
	/* four words, each of four scales of 3 bits and, above them, a part of an f16 */
	static const eight each_three = { 0, 3, 6, 9, 16, 19, 22, 25 };
	bytes packed = b + 48;
	unsigned bits = u16_at(packed) >> 12 | (u16_at(packed + 2) >> 8 & 0xf0) | (u16_at(packed + 4) >> 4 & 0xf00) |
			(u16_at(packed + 6) & 0xf000);
	float d = lb_f16_to_float((uint16_t)bits) * 0.125f;
	multiply_eight(2 * (from_bits(u32_at(packed), each_three) & 7) + 1, d, step);
	multiply_eight(2 * (from_bits(u32_at(packed + 4), each_three) & 7) + 1, d, step + 8);
	for (int k = 0; k < 4; k++)
		put_places(to + k * 8, b + k * 8, u32_at(b + 32 + k * 4), each_one * 4, 15);
}

/* Of the codes of some groups at once. */
INLINE void add_groups(const uint32_t *places, int n, sums sum, sums square)
{
	int32_t both = 0;
	for (int i = 0; i < n; i++)
		both += lb_sums_iq1[places[i]];
	*sum = (int16_t)both;
	*square = (both - *sum) >> 16;
}

INLINE void iq1_s_sums(bytes b, sums sum, sums square, floats step)
{
	uint32_t places[32];
	iq1_s_places(b, places, step);
	ONE_BY_ONE
	for (int k = 0; k < 8; k++)
		add_groups(places + 4 * k, 4, sum + k, square + k);
}

INLINE void iq1_m_sums(bytes b, sums sum, sums square, floats step)
{
	uint32_t places[32];
	iq1_m_places(b, places, step);
	ONE_BY_ONE
	for (int k = 0; k < 16; k++)
		add_groups(places + 2 * k, 2, sum + k, square + k);
}

INLINE void iq1_s(bytes b, codes to, floats step, floats least)
{
	uint32_t places[32];
	(void)least;
	iq1_s_places(b, places, step);
	ONE_BY_ONE
	for (int k = 0; k < 8; k++)
		store_moved(places + 4 * k, to + 32 * k);
}

INLINE void iq1_m(bytes b, codes to, floats step, floats least)
{
	uint32_t places[32];
	(void)least;
	iq1_m_places(b, places, step);
	ONE_BY_ONE
	for (int k = 0; k < 8; k++)
		store_moved(places + 4 * k, to + 32 * k);
}

/* ---- of all formats ---- */

#define SUMS_0(name, width, groups)
#define SUMS_1(name, width, groups) \
	static void name##_sums_of_all(int64_t n, bytes b, sums sum, sums square, floats step) \
	{ \
		for (; n > 0; n--, b += width, sum += groups, square += groups, step += groups) \
			name##_sums(b, sum, square, step); \
	}
#define LB_BLOCK(ID, name, text, number, elements, width, group, has_least, lowest, highest, has_sums) \
	SUMS_##has_sums(name, width, (elements) / (group)) static void name##_codes(int64_t n, bytes b, codes to, \
										    floats step, floats least) \
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
#undef SUMS_0
#undef SUMS_1

const struct lb_block_decoder *LB_ISA_NAME(lb_tile_blocks)(enum lb_encoding encoding)
{
#define SUMS_0(name) NULL
#define SUMS_1(name) name##_sums_of_all
	static const struct lb_block_decoder decoders[LB_ENCODINGS] = {
#define LB_BLOCK(ID, name, text, number, elements, width, group, has_least, lowest, highest, has_sums) \
	[LB_##ID] = { name##_values, name##_codes, SUMS_##has_sums(name) },
#include "kernels/blocks.def"
#undef LB_BLOCK
	};

	return &decoders[encoding];
}
