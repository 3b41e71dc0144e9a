/* Products of many vectors, cut into digits, with codes of four bits (digits.c has those of a few), where the processor
 * adds four products of bytes to a lane (AVX512-VNNI). A strip is of LB_STRIP rows of codes, one a lane. Its codes are
 * bytes: of eight elements that follow one another come the even ones of all rows, then the odd ones, as the planes of
 * digits have them. They are unpacked once for all vectors.
 *
 * 32 elements, or a group of 16, are summed in a lane as whole numbers: with 22 bits of an element and 4 of a code
 * they fit, as long as 12 times the sum of the elements is taken off where e2m1 codes are bytes of 0 to 24, twice their
 * value and 12; what is beyond 32 bits before that does not matter. */
#include "kernels/codes.h"
#include "kernels/simd/tiles.h"

#ifdef __AVX512BW__
#include <immintrin.h>

enum {
	EIGHT = 2 * LB_STRIP * 4, /* bytes of eight elements of a strip */
	ROWS = 6, /* their sums with LB_STRIPS strips are registers */
};

/* ---- codes to bytes ---- */

/* 16 words of each of LB_STRIP lines; what is beyond the last is 0. `panel` bytes further begins the next panel, which is asked
 * for: the lines are too far apart for the processor to see. */
static void turn_words(uint32_t words[16 * LB_STRIP], const uint8_t *from, int64_t row, int64_t lines, int64_t n,
		       int64_t panel)
{
	uint32_t some[16 * LB_STRIP] __attribute__((aligned(64)));
	for (int i = 0; i < LB_STRIP && i < lines; i++)
		lb_prefetch(from + i * row + panel, 64);
	if (lines >= LB_STRIP && n >= 16 && row % 4 == 0) {
		LB_ISA_NAME(lb_tile_turn)(words, LB_STRIP, from, row / 4, false);
		return;
	}
	__mmask16 those = n < 16 ? (__mmask16)((1u << n) - 1) : (__mmask16)~0u;
	for (int i = 0; i < LB_STRIP; i++)
		_mm512_store_si512(some + i * 16, _mm512_maskz_loadu_epi32(i < lines ? those : 0, from + i * row));
	LB_ISA_NAME(lb_tile_turn)(words, LB_STRIP, some, 16, false);
}

/* Eight codes of each line are a vector of `words`, of which there are up to 16 at a time. */
#define EACH_EIGHT(body) \
	for (int64_t at = 0; at < depth / 8; at += 16) { \
		uint32_t words[16 * LB_STRIP] __attribute__((aligned(64))); \
		int64_t n = depth / 8 - at; \
		turn_words(words, from + at * 4, row, lines, n, depth / 2); \
		for (int64_t i = 0; i < (n < 16 ? n : 16); i++) { \
			__m512i eight = _mm512_load_si512(words + i * LB_STRIP); \
			body \
		} \
	}

void LB_ISA_NAME(lb_tile_pack_strip)(bool e2m1, const uint8_t *from, int64_t row, int64_t lines, int64_t depth,
				     uint8_t *to)
{
	__m512i mask = _mm512_set1_epi8(15);
	__m512i values = _mm512_broadcast_i32x4(_mm_setr_epi8(LB_E2M1_BYTES));
	EACH_EIGHT({
		__m512i even = _mm512_and_si512(eight, mask);
		__m512i odd = _mm512_and_si512(_mm512_srli_epi16(eight, 4), mask);
		_mm512_storeu_si512(to, e2m1 ? _mm512_shuffle_epi8(values, even) : even);
		_mm512_storeu_si512(to + EIGHT / 2, e2m1 ? _mm512_shuffle_epi8(values, odd) : odd);
		to += EIGHT;
	})
}

void LB_ISA_NAME(lb_tile_pack_strip_pairs)(bool e2m1, const uint8_t *from, int64_t row, int64_t lines, int64_t depth,
					   uint8_t *to)
{
	static const float of_e2m1[] = LB_E2M1_VALUES;
	uint16_t values[32]; /* twice the same, as the lowest bit of the code that comes next is looked up, too */
	for (int i = 0; i < 32; i++)
		values[i] = (uint16_t)(lb_float_to_bits(e2m1 ? of_e2m1[i % 16] : (float)(i % 16)) >> 16);
	__m512i table = _mm512_loadu_si512(values);
	EACH_EIGHT({
		LB_UNROLL
		for (int k = 0; k < 4; k++) {
			_mm512_storeu_si512(to, _mm512_permutexvar_epi16(eight, table));
			eight = _mm512_srli_epi16(eight, 4);
			to += 64;
		}
	})
}

/* ---- products ---- */

#define INSIDE static inline __attribute__((always_inline, target("avx512vnni")))

INSIDE __m512i four_of(const int8_t *from)
{
	int32_t four;
	memcpy(&four, from, sizeof four);
	return _mm512_set1_epi32(four);
}

/* The products of `span` elements of some rows with those of all strips, as whole numbers. */
INSIDE void add_span(const int rows, const int planes, const int span, const uint8_t *codes, int64_t apart,
		     const int8_t *const x[], int64_t half, __m512i sums[][LB_STRIPS])
{
	LB_UNROLL
	for (int p = 0; p < planes; p++) {
		LB_UNROLL
		for (int r = 0; p && r < rows; r++)
			LB_UNROLL
		for (int c = 0; c < LB_STRIPS; c++)
			sums[r][c] = _mm512_slli_epi32(sums[r][c], 8);
		LB_UNROLL
		for (int i = 0; i < span / 4; i++) { /* even and odd ones in turn */
			__m512i w[LB_STRIPS];
			__asm__("" ::: "memory"); /* loads that come earlier push the sums out of the registers */
			LB_UNROLL
			for (int c = 0; c < LB_STRIPS; c++)
				w[c] = _mm512_loadu_si512(codes + c * apart + i * EIGHT / 2);
			LB_UNROLL
			for (int r = 0; r < rows; r++) {
				__m512i digits = four_of(x[r] + (2 * p + i % 2) * half + i / 2 * 4);
				LB_UNROLL
				for (int c = 0; c < LB_STRIPS; c++)
					sums[r][c] = _mm512_dpbusd_epi32(sums[r][c], w[c], digits);
			}
		}
	}
}

/* Some rows of x with the panel. Registers have the sums of a span; those of the spans before are in
 * the nearest cache. */
INSIDE void multiply(const bool e2m1, const int planes, const int span, const int rows, const struct lb_panel *panel,
		     const struct lb_cut *x, int64_t first, float *sums, int64_t sums_row)
{
	const uint8_t *codes = panel->codes;
	const float *scales = panel->scales, *biases = panel->biases;
	const int8_t *digits[ROWS];
	LB_UNROLL
	for (int r = 0; r < rows; r++)
		digits[r] = x[r].digits + first / 2;
	int64_t group = first / panel->group, ends = panel->group; /* of x; where it ends in the panel */
	for (int64_t at = 0; at < panel->depth; codes += span / 8 * EIGHT) {
		__m512i whole[ROWS][LB_STRIPS];
		int64_t element = first + at;
		LB_UNROLL
		for (int r = 0; r < rows; r++)
			LB_UNROLL
		for (int c = 0; c < LB_STRIPS; c++)
			whole[r][c] = _mm512_setzero_si512();
		add_span(rows, planes, span, codes, panel->codes_apart, digits, x->half, whole);
		at += span;
		bool with_biases = !e2m1 && at == ends;
		LB_UNROLL
		for (int r = 0; r < rows; r++) {
			__m512 step = _mm512_set1_ps(x[r].steps[element / 8] * (e2m1 ? 0.5f : 1));
			uint32_t all = 0;
			for (int i = 0; e2m1 && i < span / 16; i++)
				all += (uint32_t)x[r].wholes[element / 16 + i];
			LB_UNROLL
			for (int c = 0; c < LB_STRIPS; c++) {
				float *to = sums + r * sums_row + c * LB_STRIP;
				__m512 scale = _mm512_loadu_ps(scales + c * panel->scales_apart);
				if (e2m1)
					whole[r][c] = _mm512_sub_epi32(whole[r][c],
								       _mm512_set1_epi32((int)(LB_E2M1_SHIFT * all)));
				__m512 sum = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(whole[r][c]), step),
							     scale, _mm512_loadu_ps(to));
				if (with_biases)
					sum = _mm512_fmadd_ps(_mm512_set1_ps(x[r].sums[group]),
							      _mm512_loadu_ps(biases + c * panel->scales_apart), sum);
				_mm512_storeu_ps(to, sum);
			}
			digits[r] += span / 2;
		}
		if (at < ends)
			continue;
		group++;
		ends += panel->group;
		scales += LB_STRIP;
		biases += LB_STRIP;
	}
}

/* Each kind, number of planes and length of a span, compiled by itself. */
#define PART(rows) \
	for (; done + (rows) <= m; done += rows) \
		multiply(e2m1, planes, span, rows, panel, x + done, first, sums + done * sums_row, sums_row);
INSIDE void multiply_all(const bool e2m1, const int planes, const int span, const struct lb_panel *panel, int64_t m,
			 const struct lb_cut *x, int64_t first, float *sums, int64_t sums_row)
{
	int64_t done = 0;
	PART(6)
	PART(4)
	PART(2)
	PART(1)
}

#define KIND(name, e2m1, planes, span) \
	__attribute__((target("avx512vnni"))) static void name(const struct lb_panel *panel, int64_t m, \
							       const struct lb_cut *x, int64_t first, float *sums, \
							       int64_t sums_row) \
	{ \
		multiply_all(e2m1, planes, span, panel, m, x, first, sums, sums_row); \
	}
KIND(affine_1, false, 1, 32)
KIND(affine_3, false, 3, 32)
KIND(e2m1_1, true, 1, 32)
KIND(e2m1_3, true, 3, 32)
KIND(small_1, true, 1, 16)
KIND(small_3, true, 3, 16)
_Static_assert(LB_PLANES == 3, "the number of planes");

void LB_ISA_NAME(lb_tile_multiply_panel)(const struct lb_panel *panel, int64_t m, const struct lb_cut *x, int64_t first,
					 float *sums, int64_t sums_row)
{
	typedef void function(const struct lb_panel *, int64_t, const struct lb_cut *, int64_t, float *, int64_t);
	static function *const functions[3][2] = { { affine_1, affine_3 }, { e2m1_1, e2m1_3 }, { small_1, small_3 } };
	int kind = panel->group == 16 ? 2 : panel->e2m1;
	functions[kind][x->planes > 1](panel, m, x, first, sums, sums_row);
}
#endif
