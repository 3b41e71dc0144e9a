/* Strided copies. Axes are put in the order of the destination's strides, joined where
 * both sides allow, and then there are three cases: rows contiguous on both sides; rows
 * contiguous on one or none, walked directly; and transposes (the source is contiguous
 * along another axis than the destination), copied in square blocks that fit the cache. */
#include <stdlib.h>

#include "base/plural.h"
#include "kernels/layout.h"
#include "kernels/tile.h"

enum { BLOCK = 32, TURN = 16, GRAIN_BYTES = 1 << 16, STREAM_BYTES = 8 << 20 };
enum { TO, FROM };

struct copy {
	const struct lb_tiles *tiles;
	int rank;
	int64_t shape[LB_MAX_RANK];
	int64_t strides[2][LB_MAX_RANK];
	char *to;
	const char *from;
	int64_t bytes;
	int cross; /* axis along which the source is contiguous, in a transpose; else -1 */
	bool stream;
};

/* Positive strides of the destination, falling: element order is free in a copy. */
static void sort_axes(struct copy *copy)
{
	for (int i = 0; i < copy->rank; i++) {
		if (copy->strides[TO][i] >= 0)
			continue;
		copy->to += copy->strides[TO][i] * (copy->shape[i] - 1) * copy->bytes;
		copy->from += copy->strides[FROM][i] * (copy->shape[i] - 1) * copy->bytes;
		copy->strides[TO][i] = -copy->strides[TO][i];
		copy->strides[FROM][i] = -copy->strides[FROM][i];
	}
	for (int i = 1; i < copy->rank; i++)
		for (int k = i; k > 0 && copy->strides[TO][k - 1] < copy->strides[TO][k]; k--) {
			int64_t *rows[] = { copy->shape, copy->strides[TO], copy->strides[FROM] };
			for (int r = 0; r < 3; r++) {
				int64_t kept = rows[r][k];
				rows[r][k] = rows[r][k - 1];
				rows[r][k - 1] = kept;
			}
		}
}

static void copy_row(const struct copy *copy, char *to, const char *from, int64_t n)
{
	int last = copy->rank - 1;
	int64_t to_stride = copy->strides[TO][last], from_stride = copy->strides[FROM][last];
	if (to_stride == 1 && from_stride == 1 && copy->stream)
		copy->tiles->stream(to, from, n * copy->bytes);
	else if (to_stride == 1)
		lb_gather_row(to, from, n, from_stride, copy->bytes);
	else if (from_stride == 1)
		lb_scatter_row(to, from, n, to_stride, copy->bytes);
	else
		for (int64_t i = 0; i < n; i++)
			memcpy(to + i * to_stride * copy->bytes, from + i * from_stride * copy->bytes,
			       (size_t)copy->bytes);
}

static void copy_range(void *arg, int64_t begin, int64_t end)
{
	const struct copy *copy = arg;
	int last = copy->rank - 1;
	int64_t index[LB_MAX_RANK];
	lb_index_of(copy->rank, copy->shape, begin, index);
	int64_t to = lb_offset_of(last, index, copy->strides[TO]);
	int64_t from = lb_offset_of(last, index, copy->strides[FROM]);
	while (begin < end) {
		int64_t n = copy->shape[last] - index[last];
		if (n > end - begin)
			n = end - begin;
		to += index[last] * copy->strides[TO][last];
		from += index[last] * copy->strides[FROM][last];
		copy_row(copy, copy->to + to * copy->bytes, copy->from + from * copy->bytes, n);
		begin += n;
		index[last] = 0;
		lb_next_row(copy->rank, copy->shape, copy->strides[TO], index, 0);
		to = lb_offset_of(last, index, copy->strides[TO]);
		from = lb_offset_of(last, index, copy->strides[FROM]);
	}
	if (copy->stream)
		lb_stream_end();
}

/* Through a local block: both sides are then read and written line by line, also when
 * a stride is a power of two and a column's lines would share one cache set. */
#define TRANSPOSE(T) \
	do { \
		T *d = (T *)(void *)b->to, local[BLOCK][BLOCK + 1]; \
		const T *s = (const T *)(const void *)b->from; \
		for (int64_t c = 0; c < columns; c++) \
			for (int64_t r = 0; r < rows; r++) \
				local[c][r] = s[r * b->from_row + c * b->from_column]; \
		for (int64_t r = 0; r < rows; r++) \
			for (int64_t c = 0; c < columns; c++) \
				d[r * b->to_row + c * b->to_column] = local[c][r]; \
	} while (0)

/* At most BLOCK by BLOCK elements, and their strides on both sides. */
struct block {
	char *to;
	const char *from;
	int64_t rows, columns;
	int64_t to_row, to_column, from_row, from_column;
};

/* Elements of 4 bytes that are contiguous along the rows on one side and along the columns on the other go in squares
 * through registers; past the caches where whole lines of much memory are written. */
static bool turn_block(const struct copy *copy, const struct block *b)
{
	if (copy->bytes != 4 || b->from_row != 1 || b->to_column != 1 || b->rows % TURN || b->columns % TURN)
		return false;
	bool stream = copy->stream && (uintptr_t)b->to % 64 == 0 && b->to_row % TURN == 0;
	for (int64_t r = 0; r < b->rows; r += TURN)
		for (int64_t c = 0; c < b->columns; c += TURN)
			copy->tiles->turn(b->to + (r * b->to_row + c) * 4, b->to_row,
					  b->from + (r + c * b->from_column) * 4, b->from_column, stream);
	return true;
}

static void copy_block(const struct copy *copy, const struct block *b)
{
	const int64_t rows = b->rows, columns = b->columns;
	if (turn_block(copy, b))
		return;
	switch (copy->bytes) {
	case 1: TRANSPOSE(uint8_t); break;
	case 2: TRANSPOSE(uint16_t); break;
	case 4: TRANSPOSE(uint32_t); break;
	case 8: TRANSPOSE(uint64_t); break;
	}
}

/* Units are blocks of rows along `cross`, for each index of the axes that are neither
 * `cross` nor the last. */
static void transpose_range(void *arg, int64_t begin, int64_t end)
{
	const struct copy *copy = arg;
	int last = copy->rank - 1, cross = copy->cross;
	int64_t rows = copy->shape[cross], columns = copy->shape[last];
	int64_t outer_shape[LB_MAX_RANK], outer[2][LB_MAX_RANK], index[LB_MAX_RANK];
	int n_outer = 0;
	for (int i = 0; i < last; i++) {
		if (i == cross)
			continue;
		outer_shape[n_outer] = copy->shape[i];
		outer[TO][n_outer] = copy->strides[TO][i];
		outer[FROM][n_outer++] = copy->strides[FROM][i];
	}
	int64_t blocks = (rows + BLOCK - 1) / BLOCK;
	int64_t to_row = copy->strides[TO][cross], from_row = copy->strides[FROM][cross];
	int64_t to_column = copy->strides[TO][last], from_column = copy->strides[FROM][last];
	for (int64_t unit = begin; unit < end; unit++) {
		lb_index_of(n_outer, outer_shape, unit / blocks, index);
		int64_t r = unit % blocks * BLOCK, m = rows - r < BLOCK ? rows - r : BLOCK;
		int64_t to = lb_offset_of(n_outer, index, outer[TO]) + r * to_row;
		int64_t from = lb_offset_of(n_outer, index, outer[FROM]) + r * from_row;
		for (int64_t c = 0; c < columns; c += BLOCK) {
			int64_t n = columns - c < BLOCK ? columns - c : BLOCK;
			const struct block block = { .to = copy->to + (to + c * to_column) * copy->bytes,
						     .from = copy->from + (from + c * from_column) * copy->bytes,
						     .rows = m,
						     .columns = n,
						     .to_row = to_row,
						     .to_column = to_column,
						     .from_row = from_row,
						     .from_column = from_column };
			copy_block(copy, &block);
		}
	}
	if (copy->stream)
		lb_stream_end();
}

static int find_cross(const struct copy *copy)
{
	int last = copy->rank - 1;
	int64_t along = llabs(copy->strides[FROM][last]);
	int best = -1;
	if (along <= 1 || copy->shape[last] < 4)
		return -1;
	for (int i = 0; i < last; i++) {
		int64_t stride = llabs(copy->strides[FROM][i]);
		if (stride != 0 && stride < along && copy->shape[i] >= 4) {
			best = i;
			along = stride;
		}
	}
	return best;
}

bool lb_kernel_copy(struct lb_exec *exec, const struct lb_view *to, const struct lb_view *from)
{
	struct copy copy = { .tiles = lb_tiles(),
			     .rank = to->rank,
			     .to = to->data,
			     .from = from->data,
			     .bytes = lb_width_of(to->dtype) };
	if (to->rank != from->rank || to->dtype != from->dtype || to->rank < 0 || to->rank > LB_MAX_RANK)
		return lb_fail("copy: ranks or dtypes differ (%d %s of %s, %d of %s)", to->rank,
			       LB_PLURAL(to->rank, "axis", "axes"), lb_dtypes[to->dtype].name, from->rank,
			       lb_dtypes[from->dtype].name);
	int64_t n = lb_shape_size(to->rank, to->shape);
	if (n == 0)
		return true;
	for (int i = 0; i < to->rank; i++) {
		copy.shape[i] = to->shape[i];
		copy.strides[TO][i] = to->strides[i];
		copy.strides[FROM][i] = from->strides[i];
	}
	copy.rank = lb_join_axes(copy.rank, copy.shape, 2, copy.strides);
	sort_axes(&copy);
	copy.rank = lb_join_axes(copy.rank, copy.shape, 2, copy.strides);
	if (copy.rank == 0) {
		memcpy(copy.to, copy.from, (size_t)copy.bytes);
		return true;
	}
	copy.stream = n >= STREAM_BYTES / copy.bytes && copy.shape[copy.rank - 1] >= 1024;
	copy.cross = find_cross(&copy);
	if (copy.cross < 0) {
		lb_parallel(exec, n, GRAIN_BYTES / copy.bytes, copy_range, &copy);
		return true;
	}
	int64_t rows = copy.shape[copy.cross], columns = copy.shape[copy.rank - 1];
	int64_t blocks = (rows + BLOCK - 1) / BLOCK;
	int64_t unit_bytes = (rows < BLOCK ? rows : BLOCK) * columns * copy.bytes;
	lb_parallel(exec, n / rows / columns * blocks, GRAIN_BYTES / unit_bytes + 1, transpose_range, &copy);
	return true;
}
