/* Rows of any stride and floating dtype, as dense f32 (f64 for f64) and back. */
#ifndef LB_KERNELS_ROW_H
#define LB_KERNELS_ROW_H

#include "kernels/layout.h"
#include "kernels/tile.h"

/* The dtype in which a floating one is computed. */
static inline int lb_stage_of(int dtype)
{
	return dtype == LB_F64 ? LB_F64 : LB_F32;
}

/* n elements from `from` on, in the stage's dtype: where they are if they are dense and of it,
 * else in `to`. */
static inline const void *lb_row_in(const struct lb_tiles *tiles, int dtype, const void *from, int64_t n,
				    int64_t stride, void *to)
{
	enum { CHUNK = 1024 };
	int stage = lb_stage_of(dtype);
	if (dtype == stage) {
		if (stride == 1 || n <= 1)
			return from;
		lb_gather_row(to, from, n, stride, lb_width_of(dtype));
		return to;
	}
	if (stride == 1 || n <= 1) {
		tiles->convert(stage, dtype)(n, to, from, NULL, NULL);
		return to;
	}
	uint16_t halves[CHUNK];
	for (int64_t i = 0; i < n; i += CHUNK) {
		int64_t m = n - i < CHUNK ? n - i : CHUNK;
		lb_gather_row(halves, (const uint16_t *)from + i * stride, m, stride, 2);
		tiles->convert(stage, dtype)(m, (float *)to + i, halves, NULL, NULL);
	}
	return to;
}

/* n dense elements of the stage's dtype into dense memory of dtype. */
static inline void lb_row_out(const struct lb_tiles *tiles, int dtype, void *to, const void *from, int64_t n)
{
	if (to != from)
		tiles->convert(dtype, lb_stage_of(dtype))(n, to, from, NULL, NULL);
}

#endif
