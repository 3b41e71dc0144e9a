/* Walks over strided memory: what the kernels share about shapes and strides. */
#ifndef LB_KERNELS_LAYOUT_H
#define LB_KERNELS_LAYOUT_H

#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "kernels/kernels.h"

static inline int64_t lb_width_of(int dtype)
{
	return lb_dtypes[dtype].bytes;
}

/* Elements of a shape; 0 if any size is. Shapes of existing memory do not overflow. */
static inline int64_t lb_shape_size(int rank, const int64_t *shape)
{
	int64_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= shape[i];
	return n;
}

static inline bool lb_is_dense(int rank, const int64_t *shape, const int64_t *strides)
{
	int64_t expected = 1;
	for (int i = rank - 1; i >= 0; i--) {
		if (shape[i] != 1 && strides[i] != expected)
			return false;
		expected *= shape[i];
	}
	return true;
}

/* Drops axes of size 1 and joins neighbours that every operand walks through evenly.
 * Operand k's strides are strides[k]; both it and shape change. Returns the new rank. */
int lb_join_axes(int rank, int64_t *shape, int n_operands, int64_t strides[][LB_MAX_RANK]);

/* The index of row-major element `at`. */
static inline void lb_index_of(int rank, const int64_t *shape, int64_t at, int64_t *index)
{
	for (int i = rank - 1; i > 0; i--) {
		index[i] = at % shape[i];
		at /= shape[i];
	}
	if (rank > 0)
		index[0] = at;
}

/* Of shapes or strides the axis goes last; what is left keeps its order. */
static inline void lb_put_last(int rank, int axis, int64_t *numbers)
{
	int64_t number = numbers[axis];
	memmove(numbers + axis, numbers + axis + 1, (size_t)(rank - 1 - axis) * sizeof *numbers);
	numbers[rank - 1] = number;
}

static inline int64_t lb_offset_of(int rank, const int64_t *index, const int64_t *strides)
{
	int64_t offset = 0;
	for (int i = 0; i < rank; i++)
		offset += index[i] * strides[i];
	return offset;
}

/* The next index after the last axis is done; the offset follows. The last axis' own
 * index is left alone. */
static inline int64_t lb_next_row(int rank, const int64_t *shape, const int64_t *strides, int64_t *index,
				  int64_t offset)
{
	for (int i = rank - 2; i >= 0; i--) {
		offset += strides[i];
		if (++index[i] < shape[i])
			break;
		offset -= strides[i] * shape[i];
		index[i] = 0;
	}
	return offset;
}

/* n elements of `bytes` each: dense dst from src by stride, or the other way. */
void lb_gather_row(void *dst, const void *src, int64_t n, int64_t stride, int64_t bytes);
void lb_scatter_row(void *dst, const void *src, int64_t n, int64_t stride, int64_t bytes);

/* n elements in row-major order from `index` on, into dense dst. index changes. */
void lb_gather(void *dst, const void *data, int64_t n, int rank, const int64_t *shape, const int64_t *strides,
	       int64_t *index, int64_t bytes);

#endif
