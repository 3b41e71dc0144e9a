/* Products of halves by AMX. A piece of a strip of rows is two tiles of 16 rows, each of 16 pairs of bf16 that follow each
 * other along the depth; one of a strip of columns has the words of 32 columns beside each other, pair after pair, as
 * pairs.c has them: two tiles side by side.
 *
 * A piece adds to an element the sum of the products of even places and that of odd ones: each exact and added with one
 * rounding, in order; denormals, of elements and sums, are 0. f16 is the sum of two bf16, its upper 8 bits and the other 3,
 * so four products of such are all of it. */
#include "kernels/simd/tiles.h"

#ifdef __AVX512F__
#include <immintrin.h>

#include "kernels/simd/amx.h"

enum { LANES = 16, TILE = LANES * LANES /* words */, ROW = 64 /* bytes */ };

/* ---- packing ---- */

static inline __mmask32 first_of(int64_t n)
{
	return n >= 32 ? ~(__mmask32)0 : n <= 0 ? 0 : (__mmask32)((1u << n) - 1);
}

/* 16 lines of a piece that are contiguous along the depth: a row of words each. */
static void copy_lines(uint32_t *to, int64_t lines, const uint16_t *from, int64_t line, int64_t depth)
{
	for (int64_t i = 0; i < LANES; i++)
		_mm512_store_si512(to + i * LANES, i < lines
						       ? _mm512_maskz_loadu_epi16(first_of(depth), from + i * line)
						       : _mm512_setzero_si512());
}

/* 16 lines that lie beside each other: a row of words for each pair, `row` words apart. */
static void join_lines(uint32_t *to, int64_t row, int64_t lines, const uint16_t *from, int64_t step, int64_t depth)
{
	__mmask16 some = (__mmask16)first_of(lines < LANES ? lines : LANES);
	for (int64_t p = 0; p < LB_AMX_DEPTH; p += 2, to += row) {
		__m256i low = _mm256_maskz_loadu_epi16(p < depth ? some : 0, p < depth ? from + p * step : from);
		__m256i high =
		    _mm256_maskz_loadu_epi16(p + 1 < depth ? some : 0, p + 1 < depth ? from + (p + 1) * step : from);
		__m512i pairs = _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16);
		_mm512_store_si512(to, _mm512_or_si512(pairs, _mm512_cvtepu16_epi32(low)));
	}
}

/* 16 lines of any strides: a row of words each. */
static void gather_lines(uint32_t *to, int64_t lines, const uint16_t *from, int64_t line, int64_t step, int64_t depth)
{
	for (int64_t i = 0; i < LANES; i++)
		for (int64_t p = 0; p < LB_AMX_DEPTH; p += 2) {
			const uint16_t *x = from + i * line + p * step;
			to[i * LANES + p / 2] =
			    i >= lines || p >= depth ? 0 : x[0] | (p + 1 < depth ? (uint32_t)x[step] << 16 : 0);
		}
}

static void pack_piece(uint32_t *to, bool is_left, int64_t lines, const uint16_t *from, int64_t line, int64_t step,
		       int64_t depth)
{
	uint32_t square[TILE] __attribute__((aligned(64)));
	for (int64_t first = 0; first < LB_AMX_STRIP; first += LANES, lines -= LANES, from += LANES * line) {
		uint32_t *tile = is_left ? to + first * LANES : to + first;
		if (lines <= 0) {
			for (int i = 0; i < LANES; i++)
				_mm512_store_si512(tile + i * (is_left ? LANES : LB_AMX_STRIP), _mm512_setzero_si512());
			continue;
		}
		if (line == 1 && step != 1) {
			join_lines(is_left ? square : tile, is_left ? LANES : LB_AMX_STRIP, lines, from, step, depth);
			if (is_left)
				LB_ISA_NAME(lb_tile_turn)(tile, LANES, square, LANES, false);
			continue;
		}
		if (step == 1 && !is_left && lines >= LANES && depth >= LB_AMX_DEPTH && line % 2 == 0) {
			LB_ISA_NAME(lb_tile_turn)(tile, LB_AMX_STRIP, from, line / 2, false);
			continue;
		}
		if (step == 1)
			copy_lines(is_left ? tile : square, lines, from, line, depth);
		else
			gather_lines(is_left ? tile : square, lines, from, line, step, depth);
		if (!is_left)
			LB_ISA_NAME(lb_tile_turn)(tile, LB_AMX_STRIP, square, LANES, false);
	}
}

/* A denormal number is from 1 to 0x7f without its sign. */
static bool all_normal(const uint32_t *words)
{
	__mmask32 found = 0;
	for (int64_t i = 0; i < LB_AMX_WORDS; i += LANES) {
		__m512i x = _mm512_load_si512(words + i);
		x = _mm512_sub_epi16(_mm512_and_si512(x, _mm512_set1_epi16(0x7fff)), _mm512_set1_epi16(1));
		found |= _mm512_cmplt_epu16_mask(x, _mm512_set1_epi16(0x7f));
	}
	return found == 0;
}

/* Words of f16 become words of their upper bits, and LB_AMX_WORDS further on words of the rest. False if one is not finite. */
static bool split(uint32_t *words)
{
	__m512i upper = _mm512_set1_epi32((int)0xffff0000), exponent = _mm512_set1_epi16(0x7c00);
	__mmask32 found = 0;
	for (int64_t i = 0; i < LB_AMX_WORDS; i += LANES) {
		__m512i x = _mm512_load_si512(words + i);
		__m512 even = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(x));
		__m512 odd = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(x, 16)));
		__m512i top = _mm512_and_si512((__m512i)even, upper), other = _mm512_and_si512((__m512i)odd, upper);
		found |= _mm512_cmpeq_epi16_mask(_mm512_and_si512(x, exponent), exponent);
		even = _mm512_sub_ps(even, (__m512)top);
		odd = _mm512_sub_ps(odd, (__m512)other);
		_mm512_store_si512(words + i, _mm512_or_si512(_mm512_srli_epi32(top, 16), other));
		_mm512_store_si512(words + i + LB_AMX_WORDS,
				   _mm512_or_si512(_mm512_srli_epi32((__m512i)even, 16), (__m512i)odd));
	}
	return found == 0;
}

bool LB_ISA_NAME(lb_tile_pack_amx)(uint32_t *to, bool is_left, int dtype, int64_t lines, const void *from_,
				   int64_t line, int64_t step, int64_t depth)
{
	const uint16_t *from = from_;
	bool ok = true;
	for (int64_t at = 0; at < depth; at += LB_AMX_DEPTH) {
		pack_piece(to, is_left, lines, from + at * step, line, step, depth - at);
		ok &= dtype == LB_F16 ? split(to) : all_normal(to);
		to += (dtype == LB_F16 ? 2 : 1) * LB_AMX_WORDS;
	}
	return ok;
}

/* ---- products ---- */

#define INSIDE static inline __attribute__((always_inline))

/* sums: tiles 0 to 3, of a strip of rows, or its first half, and one of columns. */
INSIDE void multiply(const bool f16, const bool both, const uint32_t *a, const uint32_t *b, int64_t pieces, float *sums,
		     int64_t sums_row, bool add)
{
	enum { NEXT = LB_AMX_WORDS };
	int64_t row = sums_row * 4;
	float *lower = sums + LANES * sums_row;
	if (add) {
		lb_amx_load(0, sums, row);
		lb_amx_load(1, sums + LANES, row);
		if (both) {
			lb_amx_load(2, lower, row);
			lb_amx_load(3, lower + LANES, row);
		}
	} else {
		lb_amx_zero(0);
		lb_amx_zero(1);
		if (both) {
			lb_amx_zero(2);
			lb_amx_zero(3);
		}
	}
#define PRODUCTS() \
	lb_amx_bf16(0, 4, 6); \
	lb_amx_bf16(1, 4, 7); \
	if (both) { \
		lb_amx_bf16(2, 5, 6); \
		lb_amx_bf16(3, 5, 7); \
	}
#define LEFT(from) \
	lb_amx_load(4, from, ROW); \
	if (both) \
		lb_amx_load(5, (from) + TILE, ROW);
#define RIGHT(load, from) \
	load(6, from, 2 * ROW); \
	load(7, (from) + LANES, 2 * ROW);
	for (int64_t i = 0; i < pieces; i++) {
		if (!f16) {
			RIGHT(lb_amx_load_once, b)
			LEFT(a)
			PRODUCTS()
			a += NEXT;
			b += NEXT;
			continue;
		}
		RIGHT(lb_amx_load, b)
		LEFT(a)
		PRODUCTS()
		LEFT(a + NEXT)
		PRODUCTS()
		RIGHT(lb_amx_load_once, b + NEXT)
		PRODUCTS()
		LEFT(a)
		PRODUCTS()
		a += 2 * NEXT;
		b += 2 * NEXT;
	}
	lb_amx_store(0, sums, row);
	lb_amx_store(1, sums + LANES, row);
	if (both) {
		lb_amx_store(2, lower, row);
		lb_amx_store(3, lower + LANES, row);
	}
}

/* The rows' strip stays in the nearest cache, the columns' go past it. */
INSIDE void multiply_all(const bool f16, int64_t rows, int64_t columns, const uint32_t *a, const uint32_t *b,
			 int64_t apart, int64_t pieces, float *sums, int64_t sums_row, bool add)
{
	lb_amx_begin();
	for (int64_t i = 0; i < rows; i += LB_AMX_STRIP, a += apart) {
		for (int64_t j = 0; j < columns; j += LB_AMX_STRIP) {
			const uint32_t *strip = b + j / LB_AMX_STRIP * apart;
			float *to = sums + i * sums_row + j;
			if (rows - i > LANES)
				multiply(f16, true, a, strip, pieces, to, sums_row, add);
			else
				multiply(f16, false, a, strip, pieces, to, sums_row, add);
		}
	}
	lb_amx_end();
}

void LB_ISA_NAME(lb_tile_multiply_amx)(bool f16, int64_t rows, int64_t columns, const uint32_t *a, const uint32_t *b,
				       int64_t apart, int64_t pieces, float *sums, int64_t sums_row, bool add)
{
	if (f16)
		multiply_all(true, rows, columns, a, b, apart, pieces, sums, sums_row, add);
	else
		multiply_all(false, rows, columns, a, b, apart, pieces, sums, sums_row, add);
}
#endif
