/* Products of a panel of codes of four bits with rows of bfloat16 where the processor adds two products of such to a float
 * (AVX512-BF16) but has no tiles. Codes and rows lie as AMX has them (panels_amx.c). The products of a group are summed as they
 * are, as pairs.c says, and then scaled: the sums of all strips of the panel are registers meanwhile, those of the groups before
 * are not. */
#include "kernels/codes.h"
#include "kernels/simd/panels.h"

#ifdef __AVX512BW__

enum { TOGETHER = LB_CUT_TOGETHER, ROWS = LB_PAIRS_PANEL_ROWS };

#define INSIDE static inline __attribute__((always_inline, target("avx512bf16")))

/* sums += the products of n elements of some rows, which are TOGETHER elements apart. */
INSIDE void add_pairs(int n, const uint8_t *codes, int64_t apart, const uint16_t *x, __m512 sums[ROWS][LB_STRIPS])
{
	for (int i = 0; i < n; i += 2, x += 2, codes += LB_STRIP * 4) {
		__m512i w[LB_STRIPS];
		LB_UNROLL
		for (int c = 0; c < LB_STRIPS; c++)
			w[c] = _mm512_loadu_si512(codes + c * apart);
		LB_UNROLL
		for (int r = 0; r < ROWS; r++) {
			int32_t pair;
			memcpy(&pair, x + r * TOGETHER, sizeof pair);
			__m512i pairs = _mm512_set1_epi32(pair);
			LB_UNROLL
			for (int c = 0; c < LB_STRIPS; c++)
				sums[r][c] = _mm512_dpbf16_ps(sums[r][c], (__m512bh)pairs, (__m512bh)w[c]);
		}
	}
}

/* Rows `row` and following of a block with the panel. */
INSIDE void multiply(const bool e2m1, const int group, const struct lb_panel *panel, const struct lb_amx_rows *block,
		     int row, int64_t first, struct lb_panel_sums sums)
{
	for (int64_t g = 0; g < panel->depth / group; g++) {
		__m512 products[ROWS][LB_STRIPS];
		LB_UNROLL
		for (int r = 0; r < ROWS; r++)
			LB_UNROLL
		for (int c = 0; c < LB_STRIPS; c++)
			products[r][c] = _mm512_setzero_ps();
		for (int64_t at = g * group; at < (g + 1) * group; at += TOGETHER) {
			const uint16_t *x = (const uint16_t *)block->elements +
					    (first + at) / TOGETHER * TOGETHER * LB_CUT_ROWS + row * TOGETHER +
					    (first + at) % TOGETHER;
			add_pairs(group < TOGETHER ? group : TOGETHER, panel->codes + at * LB_STRIP * 2,
				  panel->codes_apart, x, products);
		}
		const float *totals = block->sums + (first / group + g) * LB_CUT_ROWS + row;
		LB_UNROLL
		for (int c = 0; c < LB_STRIPS; c++) {
			int64_t scales_at = c * panel->scales_apart + g * LB_STRIP;
			__m512 scale = _mm512_loadu_ps(panel->scales + scales_at), bias = scale;
			if (!e2m1)
				bias = _mm512_loadu_ps(panel->biases + scales_at);
			LB_UNROLL
			for (int r = 0; r < ROWS; r++) {
				float *to = sums.to + r * sums.to_row + c * LB_STRIP;
				__m512 sum = g > 0 ? _mm512_loadu_ps(to) : lb_first_sums(&sums, r, c * LB_STRIP);
				sum = _mm512_fmadd_ps(products[r][c], scale, sum);
				if (!e2m1)
					sum = _mm512_fmadd_ps(_mm512_set1_ps(totals[r]), bias, sum);
				_mm512_storeu_ps(to, sum);
			}
		}
	}
}

/* Each kind, compiled by itself. */
#define KIND(name, e2m1, group) \
	__attribute__((target("avx512bf16"))) static void name(const struct lb_panel *panel, int64_t m, \
							       const struct lb_amx_rows *x, int64_t first, \
							       struct lb_panel_sums sums) \
	{ \
		for (int64_t i = 0; i < m; i += ROWS) \
			multiply(e2m1, group, panel, &x[i / LB_CUT_ROWS], (int)(i % LB_CUT_ROWS), first, \
				 lb_sums_after(sums, i)); \
	}
KIND(affine_32, false, 32)
KIND(affine, false, panel->group)
KIND(e2m1, true, 32)
KIND(small, true, 16)

void LB_ISA_NAME(lb_tile_multiply_panel_pairs)(const struct lb_panel *panel, int64_t m, const struct lb_amx_rows *x,
					       int64_t first, struct lb_panel_sums sums)
{
	(panel->group == 16   ? small
	 : panel->e2m1        ? e2m1
	 : panel->group == 32 ? affine_32
			      : affine)(panel, m, x, first, sums);
}
#endif
