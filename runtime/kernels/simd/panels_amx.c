/* The products of panels.c, bit for bit, by AMX: 16 or 8 rows of digits at a time are a tile for each plane, the codes of a strip
 * another. Of three planes, affine codes leave room in a byte for sixteen times as much, so digits of 8 and of 4 bits beside each
 * other are a number of 12, and two tiles are all 24 bits: fewer sums go through memory. Digits are put in the strips' order
 * first: four even elements, four odd ones, and so on.
 *
 * What tiles add up, the whole numbers of a span of elements, goes through memory to the vectors that scale it. Stores that
 * wait for their tiles would keep all that comes behind them waiting, so three spans are under way: while one is
 * multiplied, the one before it is stored, and the one before that is scaled. */
#include "kernels/codes.h"
#include "kernels/simd/panels.h"

#ifdef __AVX512BW__
#include <immintrin.h>

#include "kernels/simd/amx.h"

enum {
	EIGHT = 2 * LB_STRIP * 4, /* bytes of eight elements of a strip */
	ROW = LB_CUT_TOGETHER,    /* bytes of a tile of digits, row by row */
	TILE = LB_CUT_ROWS * ROW,
	SUMS = LB_CUT_ROWS * LB_STRIP,
	WIDE = 2 * ROW, /* bytes of a tile of numbers of 12 bits, row by row */
	TWO = 2 * LB_CUT_ROWS * WIDE,
};

#define INSIDE static inline __attribute__((always_inline))

/* ---- digits in order ---- */

/* 16 whole numbers, even or odd ones, from their planes. */
static inline __m512i whole_at(const struct lb_cut *x, int64_t at, bool odd)
{
	__m512i whole = _mm512_setzero_si512();
	for (int p = 0; p < LB_PLANES; p++) {
		const int8_t *digits = x->digits + (2 * p + odd) * x->half + at / 2;
		whole = _mm512_add_epi32(_mm512_slli_epi32(whole, 8),
					 _mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)digits)));
	}
	return whole;
}

static inline void store_turns(int8_t *to, __m512i even, __m512i odd)
{
	__m128i evens = _mm512_cvtepi32_epi8(even), odds = _mm512_cvtepi32_epi8(odd);
	_mm_store_si128((void *)to, _mm_unpacklo_epi32(evens, odds));
	_mm_store_si128((void *)(to + ROW / 2), _mm_unpackhi_epi32(evens, odds));
}

/* A row of two tiles: the upper numbers, and those below, from -2048 to 2047. Of each the upper 8 bits of all come first. */
static inline void order_two(const struct lb_cut *x, int64_t at, int8_t *to)
{
	__m512i even = whole_at(x, at, false), odd = whole_at(x, at, true);
	__m512i half = _mm512_set1_epi32(2048), four = _mm512_set1_epi32(15);
	__m512i evens[2], odds[2];
	evens[0] = _mm512_srai_epi32(_mm512_add_epi32(even, half), 12);
	odds[0] = _mm512_srai_epi32(_mm512_add_epi32(odd, half), 12);
	evens[1] = _mm512_sub_epi32(even, _mm512_slli_epi32(evens[0], 12));
	odds[1] = _mm512_sub_epi32(odd, _mm512_slli_epi32(odds[0], 12));
	for (int i = 0; i < 2; i++, to += LB_CUT_ROWS * WIDE) {
		store_turns(to, _mm512_srai_epi32(evens[i], 4), _mm512_srai_epi32(odds[i], 4));
		store_turns(to + ROW, _mm512_and_si512(evens[i], four), _mm512_and_si512(odds[i], four));
	}
}

void LB_ISA_NAME(lb_tile_order_cut)(const struct lb_cut *x, bool e2m1, int group, int64_t depth, int row,
				    const struct lb_cut_rows *to)
{
	int span = group < LB_CUT_TOGETHER ? group : LB_CUT_TOGETHER;
	bool two = x->planes > 1 && !e2m1;
	for (int64_t at = 0; two && at < depth; at += LB_CUT_TOGETHER)
		order_two(x, at, to->digits + at / LB_CUT_TOGETHER * TWO + row * WIDE);
	for (int64_t at = 0; !two && at < depth; at += LB_CUT_TOGETHER)
		for (int p = 0; p < x->planes; p++) {
			int8_t *tile = to->digits + (at / LB_CUT_TOGETHER * x->planes + p) * TILE + row * ROW;
			__m128i even = _mm_loadu_si128((const void *)(x->digits + 2 * p * x->half + at / 2));
			__m128i odd = _mm_loadu_si128((const void *)(x->digits + (2 * p + 1) * x->half + at / 2));
			_mm_store_si128((void *)tile, _mm_unpacklo_epi32(even, odd));
			_mm_store_si128((void *)(tile + ROW / 2), _mm_unpackhi_epi32(even, odd));
		}
	for (int64_t at = 0, i = row; at < depth; at += span, i += LB_CUT_ROWS) {
		uint32_t all = 0;
		for (int k = 0; e2m1 && k < span / 16; k++)
			all += (uint32_t)x->wholes[at / 16 + k];
		to->steps[i] = x->steps[at / 8] * (e2m1 ? 0.5f : 1);
		to->shifts[i] = (int32_t)(LB_E2M1_SHIFT * all);
	}
	for (int64_t g = 0; g < depth / group; g++)
		to->sums[g * LB_CUT_ROWS + row] = x->sums[g];
}

/* ---- products ---- */

/* Tile t, one of six, becomes the sums of the products of digits with the codes in tile 7. The digits do not fit the nearest
 * cache, where the codes are; rows of half a line are taken there, though. */
INSIDE void multiply_tile(const int t, const int8_t *digits, const int row)
{
	if (row == WIDE)
		lb_amx_load_once(6, digits, WIDE);
	else
		lb_amx_load(6, digits, ROW);
#define CASE(t) \
	case t: \
		lb_amx_zero(t); \
		lb_amx_su(t, 6, 7); \
		break;
	switch (t) {
		CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5)
	}
#undef CASE
}

INSIDE void store_tile(const int t, int32_t *to)
{
#define CASE(t) \
	case t: lb_amx_store(t, to, 64); break;
	switch (t) {
		CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5)
	}
#undef CASE
}

/* How a kind is multiplied: known when it is compiled. */
struct way {
	bool e2m1;
	int span;        /* elements whose scale is one */
	int tiles, bits; /* of which a number is made, the upper ones first; bits of each but that */
	int row, tile;   /* bytes of digits, from row to row and from tile to tile */
	int codes;       /* bytes of a span */
};

INSIDE struct way way_of(bool e2m1, int planes, int span)
{
	bool two = planes > 1 && !e2m1;
	return (struct way){ .e2m1 = e2m1,
			     .span = span,
			     .tiles = two ? 2 : planes,
			     .bits = two ? 12 : 8,
			     .row = two ? WIDE : ROW,
			     .tile = two ? TWO / 2 : TILE,
			     .codes = span / 8 * EIGHT * (two ? 2 : 1) };
}

/* Spans take turns with two sets of tiles. */
INSIDE void begin_span(const struct way way, int64_t s, const uint8_t *codes, const int8_t *digits, int64_t first)
{
	int64_t at = first % ROW + s * way.span;
	digits += at / ROW * way.tiles * way.tile + at % ROW;
	lb_amx_load(7, codes + s * way.codes, 64);
	LB_UNROLL
	for (int t = 0; t < way.tiles; t++)
		if (s % 2)
			multiply_tile(LB_PLANES + t, digits + t * way.tile, way.row);
		else
			multiply_tile(t, digits + t * way.tile, way.row);
}

INSIDE void end_span(const struct way way, int64_t s, int32_t to[2][LB_PLANES][SUMS])
{
	LB_UNROLL
	for (int t = 0; t < way.tiles; t++)
		if (s % 2)
			store_tile(LB_PLANES + t, to[1][t]);
		else
			store_tile(t, to[0][t]);
}

INSIDE __m512i whole_of(const struct way way, int32_t from[LB_PLANES][SUMS], int r, const int32_t *shifts)
{
	__m512i whole = _mm512_load_si512(from[0] + r * LB_STRIP);
	LB_UNROLL
	for (int t = 1; t < way.tiles; t++)
		whole = _mm512_add_epi32(_mm512_slli_epi32(whole, (unsigned)way.bits),
					 _mm512_load_si512(from[t] + r * LB_STRIP));
	return way.e2m1 ? _mm512_sub_epi32(whole, _mm512_set1_epi32(shifts[r])) : whole;
}

/* Some rows with one strip, all of the panel's depth. */
INSIDE void multiply(const struct way way, const int rows, const struct lb_panel *panel, int strip,
		     const struct lb_cut_rows *x, int64_t first, float *sums, int64_t sums_row)
{
	int32_t wholes[2][LB_PLANES][SUMS] __attribute__((aligned(64)));
	const uint8_t *codes = panel->codes + strip * panel->codes_apart;
	const float *scales = panel->scales + strip * panel->scales_apart;
	const float *biases = panel->biases + strip * panel->scales_apart;
	const int8_t *digits = x->digits + first / ROW * way.tiles * way.tile;
	const float *steps = x->steps + first / way.span * LB_CUT_ROWS;
	const float *all = x->sums + first / panel->group * LB_CUT_ROWS;
	const int32_t *shifts = x->shifts + first / way.span * LB_CUT_ROWS;
	int64_t spans = panel->depth / way.span, ends = panel->group / way.span; /* where a group ends */
	__m512 sum[LB_CUT_ROWS];
	LB_UNROLL
	for (int r = 0; r < rows; r++)
		sum[r] = _mm512_loadu_ps(sums + r * sums_row);
	for (int64_t s = -2; s < spans; s++) {
		if (s + 2 < spans)
			begin_span(way, s + 2, codes, digits, first);
		if (s + 1 >= 0 && s + 1 < spans)
			end_span(way, s + 1, wholes);
		if (s < 0)
			continue;
		__m512 scale = _mm512_loadu_ps(scales);
		LB_UNROLL
		for (int r = 0; r < rows; r++) {
			__m512 whole = _mm512_cvtepi32_ps(whole_of(way, wholes[s % 2], r, shifts));
			sum[r] = _mm512_fmadd_ps(_mm512_mul_ps(whole, _mm512_set1_ps(steps[r])), scale, sum[r]);
		}
		steps += LB_CUT_ROWS;
		shifts += LB_CUT_ROWS;
		if (s + 1 < ends)
			continue;
		if (!way.e2m1) {
			__m512 bias = _mm512_loadu_ps(biases);
			LB_UNROLL
			for (int r = 0; r < rows; r++)
				sum[r] = _mm512_fmadd_ps(_mm512_set1_ps(all[r]), bias, sum[r]);
		}
		ends += panel->group / way.span;
		all += LB_CUT_ROWS;
		scales += LB_STRIP;
		biases += LB_STRIP;
	}
	LB_UNROLL
	for (int r = 0; r < rows; r++)
		_mm512_storeu_ps(sums + r * sums_row, sum[r]);
}

INSIDE void begin(const struct way way, const int rows)
{
	lb_amx_begin_bytes(rows, way.row == WIDE ? WIDE : way.span, 7);
}

/* Each kind, number of planes, length of a span and number of rows, compiled by itself. */
#define KIND(name, e2m1, planes, span) \
	static void name(const struct lb_panel *panel, int64_t m, const struct lb_cut_rows *x, int64_t first, float *sums, \
			 int64_t sums_row) \
	{ \
		const struct way way = way_of(e2m1, planes, span); \
		begin(way, LB_CUT_ROWS); \
		for (int c = 0; c < LB_STRIPS; c++) \
			for (int64_t i = 0; i + LB_CUT_ROWS <= m; i += LB_CUT_ROWS) \
				multiply(way, LB_CUT_ROWS, panel, c, x + i / LB_CUT_ROWS, first, \
					 sums + i * sums_row + c * LB_STRIP, sums_row); \
		if (m % LB_CUT_ROWS) { \
			int64_t i = m / LB_CUT_ROWS * LB_CUT_ROWS; \
			begin(way, LB_CUT_ROWS / 2); \
			for (int c = 0; c < LB_STRIPS; c++) \
				multiply(way, LB_CUT_ROWS / 2, panel, c, x + i / LB_CUT_ROWS, first, \
					 sums + i * sums_row + c * LB_STRIP, sums_row); \
		} \
		lb_amx_end(); \
	}
LB_PANEL_KINDS(KIND)

void LB_ISA_NAME(lb_tile_multiply_panel_amx)(const struct lb_panel *panel, int64_t m, const struct lb_cut_rows *x,
					     int planes, int64_t first, float *sums, int64_t sums_row)
{
	typedef void function(const struct lb_panel *, int64_t, const struct lb_cut_rows *, int64_t, float *, int64_t);
	LB_PANEL_FUNCTION(panel, planes)(panel, m, x, first, sums, sums_row);
}
#endif
