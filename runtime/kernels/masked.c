/* Products of matrices, block by block, without those that a mask drops: what is left of a row of blocks of a and of the
 * columns of blocks of b that go with the same of them is one product, so that nothing is rounded on the way. */
#include <string.h>

#include "base/error.h"
#include "kernels/again.h"
#include "kernels/layout.h"
#include "kernels/model.h"
#include "kernels/share.h"

struct job {
	struct lb_again again;
	const struct lb_view *a, *b, *masks; /* masks of the result, a and b */
	int64_t block, m, n, k, width;
	int64_t columns, depth; /* blocks along n and k */
	char *to;
	char *rows, *panel, *products; /* scratch: what is left of a row of blocks, of columns, and a result */
	bool *left; /* scratch: blocks along k that are left */
};

static bool at(const struct lb_view *mask, int64_t i, int64_t j)
{
	return ((const bool *)mask->data)[i * mask->strides[0] + j * mask->strides[1]];
}

static int64_t least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* The part of a matrix from (i, j) on. */
static struct lb_view part(struct lb_view x, int64_t i, int64_t rows, int64_t j, int64_t columns)
{
	x.data = (char *)x.data + (i * x.strides[0] + j * x.strides[1]) * lb_width_of(x.dtype);
	x.shape[0] = rows;
	x.shape[1] = columns;
	return x;
}

/* Puts what is left along k together: a view of x where it is one piece, else a copy. */
static bool gathered(struct job *j, struct lb_view *x, int along, void *room)
{
	int64_t total = 0, first = -1, end = 0;
	bool in_one = true;
	for (int64_t l = 0; l < j->depth; l++) {
		if (!j->left[l])
			continue;
		in_one &= first < 0 || end == l * j->block;
		first = first < 0 ? l * j->block : first;
		end = least((l + 1) * j->block, j->k);
		total += end - l * j->block;
	}
	if (in_one) {
		*x = along ? part(*x, 0, x->shape[0], first, total) : part(*x, first, total, 0, x->shape[1]);
		return true;
	}
	struct lb_view all = { room, x->dtype, 2, { x->shape[0], x->shape[1] }, { 0, 1 } };
	all.shape[along] = total;
	all.strides[0] = all.shape[1];
	for (int64_t l = 0, done = 0; l < j->depth; l++) {
		int64_t begin = l * j->block, size = least(j->block, j->k - begin);
		if (!j->left[l])
			continue;
		struct lb_view from =
		    along ? part(*x, 0, x->shape[0], begin, size) : part(*x, begin, size, 0, x->shape[1]);
		struct lb_view into =
		    along ? part(all, 0, x->shape[0], done, size) : part(all, done, size, 0, x->shape[1]);
		if (!lb_kernel_copy(lb_again_next(&j->again), &into, &from))
			return false;
		done += size;
	}
	*x = all;
	return true;
}

/* Whether block l along k counts for the block (row, column) of the result. */
static bool is_left(const struct lb_view *masks, int64_t row, int64_t column, int64_t l)
{
	return at(&masks[1], row, l) && at(&masks[2], l, column);
}

/* The columns of blocks from `first` up to `end`, for which the same blocks are left. */
static bool multiply(struct job *j, const struct lb_view *a, const struct lb_view *b, bool any, int64_t row,
		     int64_t first, int64_t end, char *to)
{
	int64_t i = row * j->block, rows = least(j->block, j->m - i);
	int64_t from = first * j->block, columns = least(end * j->block, j->n) - from;
	char *corner = to + (i * j->n + from) * j->width;
	if (!any) {
		for (int64_t r = 0; r < rows; r++)
			memset(corner + r * j->n * j->width, 0, (size_t)(columns * j->width));
		return true;
	}
	struct lb_view x = part(*a, i, rows, 0, j->k), y = part(*b, 0, j->k, from, columns);
	bool is_whole = columns == j->n;
	if (!gathered(j, &x, 1, j->rows) || !gathered(j, &y, 0, j->panel) ||
	    !lb_kernel_matmul(lb_again_next(&j->again), &x, &y, NULL, 1, 0, is_whole ? corner : j->products))
		return false;
	for (int64_t r = 0; r < rows && !is_whole; r++)
		memcpy(corner + r * j->n * j->width, j->products + r * columns * j->width,
		       (size_t)(columns * j->width));
	return true;
}

static bool row_of_blocks(struct job *j, const struct lb_view *a, const struct lb_view *b, const struct lb_view *masks,
			  int64_t row, char *to)
{
	for (int64_t first = 0, end; first < j->columns; first = end) {
		bool any = false, same = true, keeps = at(&masks[0], row, first);
		for (int64_t l = 0; l < j->depth; l++) {
			j->left[l] = keeps && is_left(masks, row, first, l);
			any |= j->left[l];
		}
		for (end = first + 1; end < j->columns; end++) {
			keeps = at(&masks[0], row, end);
			for (int64_t l = 0; l < j->depth && same; l++)
				same = j->left[l] == (keeps && is_left(masks, row, end, l));
			if (!same)
				break;
		}
		if (!multiply(j, a, b, any, row, first, end, to))
			return false;
	}
	return true;
}

static bool fits(const struct lb_view *mask, int rank, int64_t rows, int64_t columns)
{
	return mask->dtype == LB_BOOL && mask->rank == rank && mask->shape[rank - 2] == rows &&
	       mask->shape[rank - 1] == columns;
}

bool lb_kernel_block_masked_mm(struct lb_exec *exec, const struct lb_view *a, const struct lb_view *b,
			       const struct lb_view *masks, int64_t block, void *to)
{
	int rank = a->rank;
	if (rank < 2 || b->rank != rank || block < 1 || b->dtype != a->dtype ||
	    b->shape[rank - 2] != a->shape[rank - 1])
		return lb_fail("block_masked_mm: shapes of the matrices do not match");
	struct job j = { .a = a,
			 .b = b,
			 .masks = masks,
			 .m = a->shape[rank - 2],
			 .n = b->shape[rank - 1],
			 .k = a->shape[rank - 1],
			 .width = lb_width_of(a->dtype),
			 .to = to };
	int64_t longest = j.m > j.n ? j.m : j.n, batches = lb_shape_size(rank - 2, a->shape);
	longest = longest > j.k ? longest : j.k;
	j.block = longest > 0 ? least(block, longest) : 1; /* so that nothing overflows */
	j.columns = (j.n + j.block - 1) / j.block;
	j.depth = (j.k + j.block - 1) / j.block;
	int64_t lines = (j.m + j.block - 1) / j.block, most = least(j.block, j.m);
	if (!fits(&masks[0], rank, lines, j.columns) || !fits(&masks[1], rank, lines, j.depth) ||
	    !fits(&masks[2], rank, j.depth, j.columns))
		return lb_fail("block_masked_mm: a mask does not match");
	if (batches == 0 || j.m == 0 || j.n == 0)
		return true;
	lb_again_begin(&j.again, exec);
	j.left = exec->scratch(exec, j.depth + 1);
	j.rows = j.left ? exec->scratch(exec, lb_bytes_of(most, j.k, j.width) + 1) : NULL;
	j.panel = j.rows ? exec->scratch(exec, lb_bytes_of(j.k, j.n, j.width) + 1) : NULL;
	j.products = j.panel ? exec->scratch(exec, lb_bytes_of(most, j.n, j.width)) : NULL;
	if (!j.products)
		return false;
	for (int64_t i = 0; i < batches; i++) {
		struct lb_view x = lb_matrix_at(a, i), y = lb_matrix_at(b, i), of[3];
		for (int m = 0; m < 3; m++)
			of[m] = lb_matrix_at(&masks[m], i);
		for (int64_t row = 0; row < lines; row++)
			if (!row_of_blocks(&j, &x, &y, of, row, j.to + i * j.m * j.n * j.width))
				return false;
	}
	return true;
}
