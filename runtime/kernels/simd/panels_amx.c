/* Products of a panel of codes of four bits by AMX, 16 or 8 rows of x at a time.
 *
 * x in bytes: the products of panels.c, bit for bit. A tile of digits and one of codes become whole numbers, 32 elements or a
 * small group at a time. x as it is: each element is the sum of as many bfloat16 as its dtype needs, three for a float, and the
 * codes are bfloat16, too; a group's products are added up as floats, the parts of an element one after another.
 *
 * What a tile sums, that of a span of elements, goes through memory to the vectors that scale it. A store that waits for its
 * tile would keep all that comes behind it waiting, so three spans are under way: while one is multiplied, the one before it is
 * stored, and the one before that is scaled. All strips of a panel follow one another, so that this has few beginnings and
 * ends, and that a panel's elements of x stay in the nearest cache, as its codes do. */
#include "kernels/codes.h"
#include "kernels/simd/panels.h"

#ifdef __AVX512BW__
#include <immintrin.h>

#include "kernels/simd/amx.h"

enum { TOGETHER = LB_CUT_TOGETHER, SUMS = LB_CUT_ROWS * LB_STRIP };

#define INSIDE static inline __attribute__((always_inline))

/* ---- rows of x in the tiles' order ---- */

/* Digits are put in the strips' order: four even elements, four odd ones, and so on. */
void LB_ISA_NAME(lb_tile_order_cut)(const struct lb_cut *x, bool e2m1, int group, int64_t depth, int row,
				    const struct lb_amx_rows *to)
{
	int span = group < TOGETHER ? group : TOGETHER;
	for (int64_t at = 0; at < depth; at += TOGETHER) {
		int8_t *line = (int8_t *)to->elements + at * LB_CUT_ROWS + row * TOGETHER;
		__m128i even = _mm_loadu_si128((const void *)(x->digits + at / 2));
		__m128i odd = _mm_loadu_si128((const void *)(x->digits + x->half + at / 2));
		_mm_store_si128((void *)line, _mm_unpacklo_epi32(even, odd));
		_mm_store_si128((void *)(line + TOGETHER / 2), _mm_unpackhi_epi32(even, odd));
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

/* Elements i and i + 4 of eight are a pair, as the codes of a word are. */
bool LB_ISA_NAME(lb_tile_order_parts)(int64_t n, const float *x, int parts, int group, int row,
				      const struct lb_amx_rows *to)
{
	__m512i pairs =
	    _mm512_setr_epi32(0x00090001, 0x000b0003, 0x000d0005, 0x000f0007, 0x00190011, 0x001b0013, 0x001d0015,
			      0x001f0017, 0x00290021, 0x002b0023, 0x002d0025, 0x002f0027, 0x00390031, 0x003b0033,
			      0x003d0035, 0x003f0037); /* of the upper halves of two vectors of floats */
	__m512i upper = _mm512_set1_epi32((int)0xffff0000), size = _mm512_set1_epi32(0x7fffffff),
		most = _mm512_setzero_si512();
	uint16_t *line = (uint16_t *)to->elements + row * TOGETHER;
	for (int64_t at = 0; at < n; at += TOGETHER) {
		__mmask16 more = n - at >= TOGETHER ? (__mmask16)~0u : 0; /* groups are of 16 at least */
		__m512 rest[] = { _mm512_loadu_ps(x + at), _mm512_maskz_loadu_ps(more, x + at + 16) };
		if (group < TOGETHER) {
			to->sums[at / 16 * LB_CUT_ROWS + row] = _mm512_reduce_add_ps(rest[0]);
			if (more)
				to->sums[(at / 16 + 1) * LB_CUT_ROWS + row] = _mm512_reduce_add_ps(rest[1]);
		} else {
			float *sum = to->sums + at / group * LB_CUT_ROWS + row;
			*sum = (at % group ? *sum : 0) + _mm512_reduce_add_ps(_mm512_add_ps(rest[0], rest[1]));
		}
		for (int i = 0; i < 2; i++)
			most = _mm512_max_epu32(most, _mm512_and_si512(_mm512_castps_si512(rest[i]), size));
		for (int p = 0; p < parts; p++, line += LB_CUT_ROWS * TOGETHER) {
			__m512i bits[] = { _mm512_castps_si512(rest[0]), _mm512_castps_si512(rest[1]) };
			_mm512_store_si512(line, _mm512_permutex2var_epi16(bits[0], pairs, bits[1]));
			for (int i = 0; i < 2; i++)
				rest[i] = _mm512_sub_ps(rest[i], _mm512_castsi512_ps(_mm512_and_si512(bits[i], upper)));
		}
	}
	return _mm512_reduce_max_epu32(most) < LB_PARTS_MOST;
}

/* ---- products ---- */

/* How a kind is multiplied: known when it is compiled, but for a span of more than TOGETHER elements. */
struct way {
	bool e2m1;
	int parts; /* of x; 0: bytes */
	int span;  /* elements whose sum is scaled */
	int wide;  /* bytes of an element, or a part of it, and of a code */
};

INSIDE int least(int a, int b)
{
	return a < b ? a : b;
}

INSIDE void begin(const struct way way, const int rows)
{
	lb_amx_begin_rows(rows, least(way.span, TOGETHER) * way.wide);
}

/* Tile 0 or 1, as spans take turns, becomes the sums of a span. */
INSIDE void begin_span(const struct way way, const bool turn, const uint8_t *codes, const char *elements)
{
	int row = TOGETHER * way.wide, tile = LB_CUT_ROWS * row;
	if (turn)
		lb_amx_zero(1);
	else
		lb_amx_zero(0);
	for (int at = 0; at < way.span; at += TOGETHER, codes += LB_STRIP * row) {
		lb_amx_load(7, codes, 64);
		for (int p = 0; p < (way.parts ? way.parts : 1); p++, elements += tile) {
			lb_amx_load(6, elements, row);
			if (way.parts && turn)
				lb_amx_bf16(1, 6, 7);
			else if (way.parts)
				lb_amx_bf16(0, 6, 7);
			else if (turn)
				lb_amx_su(1, 6, 7);
			else
				lb_amx_su(0, 6, 7);
		}
	}
}

/* A row's products with a span of a strip, added to `sum`. */
INSIDE __m512 scaled(const struct way way, const int32_t *from, __m512 scale, float step, int32_t shift, __m512 sum)
{
	if (way.parts)
		return _mm512_fmadd_ps(_mm512_load_ps(from), scale, sum);
	__m512i whole = _mm512_load_si512(from);
	if (way.e2m1)
		whole = _mm512_sub_epi32(whole, _mm512_set1_epi32(shift));
	return _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(whole), _mm512_set1_ps(step)), scale, sum);
}

struct place {
	int strip;
	int64_t span;
};

INSIDE void go_on(struct place *place, int64_t spans)
{
	if (++place->span < spans)
		return;
	place->span = 0;
	place->strip++;
}

/* Some rows with the panel. */
INSIDE void multiply(const struct way way, const int rows, const struct lb_panel *panel, const struct lb_amx_rows *x,
		     int64_t first, struct lb_panel_sums sums)
{
	int32_t results[2][SUMS] __attribute__((aligned(64)));
	int64_t spans = panel->depth / way.span, all = LB_STRIPS * spans, each = panel->group / way.span;
	int bytes = LB_CUT_ROWS * way.wide * (way.parts ? way.parts : 1); /* of an element of all rows */
	const char *elements = (const char *)x->elements + first / TOGETHER * TOGETHER * bytes;
	const float *steps = x->steps + first / way.span * LB_CUT_ROWS;
	const int32_t *shifts = x->shifts + first / way.span * LB_CUT_ROWS;
	const float *totals = x->sums + first / panel->group * LB_CUT_ROWS;
	struct place ahead = { 0, 0 }, now = { 0, 0 };
	__m512 sum[LB_CUT_ROWS];
	for (int64_t t = -2; t < all; t++) {
		if (t + 2 < all) {
			int64_t at = first % TOGETHER + ahead.span * way.span;
			const uint8_t *codes = panel->codes + ahead.strip * panel->codes_apart +
					       ahead.span * way.span * LB_STRIP * way.wide;
			const char *from = elements + at / TOGETHER * TOGETHER * bytes + at % TOGETHER * way.wide;
			if (t & 1)
				begin_span(way, true, codes, from);
			else
				begin_span(way, false, codes, from);
			go_on(&ahead, spans);
		}
		if (t + 1 >= 0 && t + 1 < all) {
			if (t & 1)
				lb_amx_store(0, results[0], 64);
			else
				lb_amx_store(1, results[1], 64);
		}
		if (t < 0)
			continue;
		int column = now.strip * LB_STRIP;
		if (now.span == 0)
			LB_UNROLL
		for (int r = 0; r < rows; r++)
			sum[r] = lb_first_sums(&sums, r, column);
		int64_t group = now.span / each, scales_at = now.strip * panel->scales_apart + group * LB_STRIP;
		__m512 scale = _mm512_loadu_ps(panel->scales + scales_at);
		LB_UNROLL
		for (int r = 0; r < rows; r++)
			sum[r] = scaled(way, results[t & 1] + r * LB_STRIP, scale, steps[now.span * LB_CUT_ROWS + r],
					shifts[now.span * LB_CUT_ROWS + r], sum[r]);
		if (!way.e2m1 && (now.span + 1) % each == 0) {
			__m512 bias = _mm512_loadu_ps(panel->biases + scales_at);
			LB_UNROLL
			for (int r = 0; r < rows; r++)
				sum[r] = _mm512_fmadd_ps(_mm512_set1_ps(totals[group * LB_CUT_ROWS + r]), bias, sum[r]);
		}
		if (now.span + 1 == spans)
			LB_UNROLL
		for (int r = 0; r < rows; r++)
			_mm512_storeu_ps(sums.to + r * sums.to_row + column, sum[r]);
		go_on(&now, spans);
	}
}

/* ---- the same without tiles ---- */

static inline __m512 bf16(uint16_t x)
{
	return _mm512_set1_ps(lb_bits_to_float((uint32_t)x << 16));
}

/* What begin_span() has of a row's parts. A product of tiles adds the sum of its products of even places and that of odd ones;
 * denormals are 0. */
__attribute__((noinline)) static __m512 sum_span(const struct way way, const uint8_t *codes, const char *elements)
{
	__m512 sum = _mm512_setzero_ps();
	for (int at = 0; at < way.span; at += TOGETHER, codes += LB_STRIP * TOGETHER * 2)
		for (int p = 0; p < way.parts; p++, elements += LB_CUT_ROWS * TOGETHER * 2) {
			const uint16_t *x = (const uint16_t *)(const void *)elements;
			__m512 even = _mm512_setzero_ps(), odd = even;
			for (int k = 0; k < least(way.span, TOGETHER); k += 2) {
				__m512i pairs = _mm512_loadu_si512(codes + k * 32);
				__m512 upper =
				    _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32((int)0xffff0000)));
				even = _mm512_fmadd_ps(bf16(x[k]), _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)),
						       even);
				odd = _mm512_fmadd_ps(bf16(x[k + 1]), upper, odd);
			}
			sum = _mm512_add_ps(sum, _mm512_add_ps(even, odd));
		}
	return sum;
}

/* As multiply() does it, where tiles must not be used. */
static void multiply_by_hand(const struct way way, const struct lb_panel *panel, int rows, const struct lb_amx_rows *x,
			     int64_t first, struct lb_panel_sums sums)
{
	enum { NO_DENORMALS = 0x8040 };
	unsigned int before = _mm_getcsr();
	for (int strip = 0; strip < LB_STRIPS; strip++)
		for (int64_t at = 0; at < panel->depth; at += way.span) {
			int64_t here =
			    (first + at) / TOGETHER * TOGETHER * way.parts * LB_CUT_ROWS + (first + at) % TOGETHER;
			const char *elements = (const char *)x->elements + here * 2;
			const uint8_t *codes = panel->codes + strip * panel->codes_apart + at * LB_STRIP * 2;
			int64_t group = at / way.span, scales_at = strip * panel->scales_apart + group * LB_STRIP;
			const float *totals = x->sums + (first / way.span + group) * LB_CUT_ROWS;
			for (int r = 0; r < rows; r++) {
				float *to = sums.to + r * sums.to_row + strip * LB_STRIP;
				__m512 sum = at ? _mm512_loadu_ps(to) : lb_first_sums(&sums, r, strip * LB_STRIP);
				_mm_setcsr(before | NO_DENORMALS);
				__m512 product = sum_span(way, codes, elements + r * TOGETHER * 2);
				_mm_setcsr(before);
				sum = _mm512_fmadd_ps(product, _mm512_loadu_ps(panel->scales + scales_at), sum);
				if (!way.e2m1)
					sum = _mm512_fmadd_ps(_mm512_set1_ps(totals[r]),
							      _mm512_loadu_ps(panel->biases + scales_at), sum);
				_mm512_storeu_ps(to, sum);
			}
		}
}

void LB_ISA_NAME(lb_tile_multiply_panel_parts)(const struct lb_panel *panel, int64_t m, const struct lb_amx_rows *x,
					       int parts, int64_t first, struct lb_panel_sums sums)
{
	const struct way way = { panel->e2m1, parts, panel->group, 2 };
	for (int64_t i = 0; i < m; i += LB_CUT_ROWS)
		multiply_by_hand(way, panel, (int)(m - i < LB_CUT_ROWS ? m - i : LB_CUT_ROWS), x + i / LB_CUT_ROWS,
				 first, lb_sums_after(sums, i));
}

/* ---- kinds ---- */

typedef void function(const struct lb_panel *, int64_t, const struct lb_amx_rows *, int64_t, struct lb_panel_sums);

/* Each kind and number of rows, compiled by itself. */
#define KIND(name, e2m1, parts, span) \
	static void name(const struct lb_panel *panel, int64_t m, const struct lb_amx_rows *x, int64_t first, \
			 struct lb_panel_sums sums) \
	{ \
		const struct way way = { e2m1, parts, span, parts ? 2 : 1 }; \
		begin(way, LB_CUT_ROWS); \
		for (; m >= LB_CUT_ROWS; m -= LB_CUT_ROWS, x++, sums = lb_sums_after(sums, LB_CUT_ROWS)) \
			multiply(way, LB_CUT_ROWS, panel, x, first, sums); \
		if (m > 0) { \
			begin(way, LB_CUT_ROWS / 2); \
			multiply(way, LB_CUT_ROWS / 2, panel, x, first, sums); \
		} \
		lb_amx_end(); \
	}
KIND(affine_bytes, false, 0, 32)
KIND(e2m1_bytes, true, 0, 32)
KIND(small_bytes, true, 0, 16)
#define PARTS(n) \
	KIND(affine_##n##_32, false, n, 32) \
	KIND(affine_##n, false, n, panel->group) \
	KIND(e2m1_##n, true, n, 32) \
	KIND(small_##n, true, n, 16)
PARTS(1)
PARTS(2)
PARTS(3)

void LB_ISA_NAME(lb_tile_multiply_panel_amx)(const struct lb_panel *panel, int64_t m, const struct lb_amx_rows *x,
					     int parts, int64_t first, struct lb_panel_sums sums)
{
	static function *const bytes[] = { affine_bytes, affine_bytes, e2m1_bytes, small_bytes };
	static function *const of_parts[][4] = { { affine_1_32, affine_1, e2m1_1, small_1 },
						 { affine_2_32, affine_2, e2m1_2, small_2 },
						 { affine_3_32, affine_3, e2m1_3, small_3 } };
	int kind = panel->group == 16 ? 3 : panel->e2m1 ? 2 : panel->group > 32;
	(parts ? of_parts[parts - 1] : bytes)[kind](panel, m, x, first, sums);
}
#endif
