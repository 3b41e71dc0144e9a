/* Arithmetic on shapes, strides and axes: no tensors, no memory. Functions that can fail
 * follow base/error.h and begin their message with `op`. */
#ifndef LB_GRAPH_SHAPE_H
#define LB_GRAPH_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "lazybones.h"

enum { LB_SHAPE_TEXT = 200 };

/* "(2,3)"; returns text. */
const char *lb_shape_text(int rank, const int64_t *shape, char text[LB_SHAPE_TEXT]);

/* Elements of a shape; fails if a size is negative, the rank too large, or the bytes of
 * dtype do not fit an int64. */
bool lb_check_shape(const char *op, int rank, const int64_t *shape, enum lb_dtype dtype, int64_t *ret);

void lb_row_strides(int rank, const int64_t *shape, int64_t *strides);
/* Row-major order without gaps; axes of size 1 and empty tensors do not matter. */
bool lb_is_row_major(int rank, const int64_t *shape, const int64_t *strides);

static inline bool lb_same_shape(int rank_a, const int64_t *a, int rank_b, const int64_t *b)
{
	if (rank_a != rank_b)
		return false;
	for (int i = 0; i < rank_a; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

/* NumPy's broadcasting, aligned at the last axis. */
bool lb_broadcast(const char *op, int rank_a, const int64_t *a, int rank_b, const int64_t *b, int *rank,
		  int64_t *shape);
/* The strides by which a tensor is read over a larger shape that it broadcasts to. */
void lb_broadcast_strides(int from_rank, const int64_t *from_shape, const int64_t *from_strides, int rank,
			  const int64_t *shape, int64_t *strides);

/* An axis of a shape to which `added` axes are about to come, counted from the end when
 * negative. */
bool lb_axis(const char *op, int64_t axis, lb_list shape, int added, int *ret);
/* A bit a listed axis; fails on repeated ones. n < 0: all. */
bool lb_axis_mask(const char *op, lb_list axes, lb_list shape, int added, uint32_t *ret);
/* The shape left by a reduction. */
void lb_reduced_shape(int rank, const int64_t *shape, uint32_t mask, bool keepdims, int *ret_rank, int64_t *ret_shape);

/* Strides that show the same elements under another shape of the same size; false, without an
 * error, when only a copy can. */
bool lb_reshape_strides(int rank, const int64_t *shape, const int64_t *strides, int to_rank, const int64_t *to_shape,
			int64_t *to_strides);

/* The lowest and highest element of a strided shape that is not empty; false, without an error,
 * when that does not fit an int64. */
bool lb_strided_reach(int rank, const int64_t *shape, const int64_t *strides, int64_t offset, int64_t *ret_low,
		      int64_t *ret_high);

#endif
