/* Products of bfloat16 where the processor has them (AVX512-BF16): it adds two products, of elements that follow each other
 * along the depth, to a float. For it matrices are packed in strips: a word is such a pair, and the words of a strip's lines (rows
 * of the left matrix, columns of the right) lie side by side.
 *
 * A sum gets the second product, then the first, each exact and added with one rounding, as fused operations do it. But
 * the instruction takes denormals for 0, elements and sums, whatever the program has set. So strips with denormal elements
 * are multiplied by fused operations instead; sums below 2^-126 are 0 elsewhere. */
#include "kernels/simd/tiles.h"

#ifdef __AVX512F__
#include <immintrin.h>

enum { LANES = 16 };

/* Lines that are contiguous along the depth: LANES lines by LANES pairs are turned at once. What this writes beyond a
 * strip's width is overwritten by the next pair. */
static void turn_lines(uint32_t *to, int width, int64_t first, int64_t lines, const uint16_t *from, int64_t line,
		       int64_t depth)
{
	for (int64_t p = 0; p < depth; p += 2 * LANES, to += LANES * width) {
		uint32_t square[LANES * LANES] __attribute__((aligned(64)));
		if (first + LANES <= lines && p + 2 * LANES <= depth && line % 2 == 0) {
			LB_ISA_NAME(lb_tile_turn)(to, width, from + first * line + p, line / 2, false);
			continue;
		}
		__mmask32 some = depth - p < 2 * LANES ? (__mmask32)((1u << (depth - p)) - 1) : ~(__mmask32)0;
		for (int i = 0; i < LANES; i++) {
			int64_t at = first + i < lines ? first + i : lines - 1;
			_mm512_store_si512(square + i * LANES, _mm512_maskz_loadu_epi16(some, from + at * line + p));
		}
		LB_ISA_NAME(lb_tile_turn)(to, width, square, LANES, false);
	}
}

/* Lines that lie beside each other; 0 beyond the last. */
static void join_lines(uint32_t *to, int width, int64_t first, int64_t lines, const uint16_t *from, int64_t step,
		       int64_t depth)
{
	int64_t n = lines - first;
	__mmask16 some = n <= 0 ? 0 : n < LANES ? (__mmask16)((1u << n) - 1) : (__mmask16)~0u;
	for (int64_t p = 0; p < depth; p += 2, to += width) {
		const uint16_t *x = from + p * step + first;
		__m256i low = _mm256_maskz_loadu_epi16(some, x);
		__m256i high = _mm256_maskz_loadu_epi16(p + 1 < depth ? some : 0, x + (p + 1 < depth ? step : 0));
		__m512i pairs = _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16);
		_mm512_storeu_si512(to, _mm512_or_si512(pairs, _mm512_cvtepu16_epi32(low)));
	}
}

static void gather_lines(uint32_t *to, int width, int64_t lines, const uint16_t *from, int64_t line, int64_t step,
			 int64_t depth)
{
	for (int64_t p = 0; p < depth; p += 2, to += width)
		for (int i = 0; i < width; i++) {
			const uint16_t *x = from + (i < lines ? i : lines - 1) * line + p * step;
			to[i] = x[0] | (p + 1 < depth ? (uint32_t)x[step] << 16 : 0);
		}
}

/* A denormal number is from 1 to 0x7f without its sign. */
static bool has_denormals(int64_t n, const uint32_t *words)
{
	__mmask32 found = 0;
	for (int64_t i = 0; i < n; i += LANES) {
		__mmask16 some = n - i < LANES ? (__mmask16)((1u << (n - i)) - 1) : (__mmask16)~0u;
		__m512i x = _mm512_maskz_loadu_epi32(some, words + i);
		x = _mm512_sub_epi16(_mm512_and_si512(x, _mm512_set1_epi16(0x7fff)), _mm512_set1_epi16(1));
		found |= _mm512_cmplt_epu16_mask(x, _mm512_set1_epi16(0x7f));
	}
	return found != 0;
}

bool LB_ISA_NAME(lb_tile_pack_pairs)(uint32_t *to, int width, int64_t lines, const void *from, int64_t line,
				     int64_t step, int64_t depth)
{
	for (int first = 0; first < width && (line == 1 || step == 1); first += LANES) {
		if (step == 1 && first < lines)
			turn_lines(to + first, width, first, lines, from, line, depth);
		else
			join_lines(to + first, width, first, lines, from, step, depth);
	}
	if (line != 1 && step != 1)
		gather_lines(to, width, lines, from, line, step, depth);
	return has_denormals((depth + 1) / 2 * width, to);
}

#define INSIDE static inline __attribute__((always_inline, target("avx512bf16")))

INSIDE __m512 add_pairs(__m512 sum, __m512i x, __m512i y, bool denormals)
{
	if (!denormals)
		return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)y);
	__m512i upper = _mm512_set1_epi32((int)0xffff0000);
	sum = _mm512_fmadd_ps((__m512)_mm512_and_si512(x, upper), (__m512)_mm512_and_si512(y, upper), sum);
	return _mm512_fmadd_ps((__m512)_mm512_slli_epi32(x, 16), (__m512)_mm512_slli_epi32(y, 16), sum);
}

INSIDE void multiply_rows(const int rows, const uint32_t *a, const uint32_t *b, int64_t pairs, float *sums,
			  int64_t sums_row, bool add, bool denormals)
{
	__m512 sum[LB_PAIRS_ROWS][2] = { { { 0 } } };
	for (int64_t p = 0; p < pairs; p++, a += rows, b += LB_PAIRS_COLUMNS) {
		__m512i y = _mm512_loadu_si512(b), z = _mm512_loadu_si512(b + LANES);
		LB_UNROLL
		for (int i = 0; i < rows; i++) {
			__m512i x = _mm512_set1_epi32((int)a[i]);
			sum[i][0] = add_pairs(sum[i][0], x, y, denormals);
			sum[i][1] = add_pairs(sum[i][1], x, z, denormals);
		}
	}
	LB_UNROLL
	for (int i = 0; i < rows; i++, sums += sums_row) {
		if (add) {
			sum[i][0] = _mm512_add_ps(_mm512_loadu_ps(sums), sum[i][0]);
			sum[i][1] = _mm512_add_ps(_mm512_loadu_ps(sums + LANES), sum[i][1]);
		}
		_mm512_storeu_ps(sums, sum[i][0]);
		_mm512_storeu_ps(sums + LANES, sum[i][1]);
	}
}

#define ROWS(n) \
	case n: \
		if (denormals) \
			multiply_rows(n, a, b, pairs, sums, sums_row, add, true); \
		else \
			multiply_rows(n, a, b, pairs, sums, sums_row, add, false); \
		break;

__attribute__((target("avx512bf16"))) void LB_ISA_NAME(lb_tile_multiply_pairs)(int rows, const uint32_t *a,
									       const uint32_t *b, int64_t pairs,
									       float *sums, int64_t sums_row, bool add,
									       bool denormals)
{
	switch (rows) {
		ROWS(2)
		ROWS(4)
		ROWS(6)
		ROWS(8)
		ROWS(10)
		ROWS(12)
	}
}
#endif
