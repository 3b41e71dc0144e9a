/* The sums of a panel's products: where they come from and go. */
#ifndef LB_KERNELS_SIMD_PANELS_H
#define LB_KERNELS_SIMD_PANELS_H

#include "kernels/simd/tiles.h"

#ifdef __AVX512BW__
#include <immintrin.h>

/* LB_STRIP sums to begin with. */
static inline __attribute__((always_inline)) __m512 lb_first_sums(const struct lb_panel_sums *sums, int row, int column)
{
	return sums->from ? _mm512_loadu_ps(sums->from + row * sums->from_row + column) : _mm512_setzero_ps();
}

/* Those of the rows that follow. */
static inline __attribute__((always_inline)) struct lb_panel_sums lb_sums_after(struct lb_panel_sums sums, int64_t rows)
{
	if (sums.from)
		sums.from += rows * sums.from_row;
	sums.to += rows * sums.to_row;
	return sums;
}

#endif
#endif
