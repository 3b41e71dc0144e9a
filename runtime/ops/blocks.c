/* Products of parts of matrices: of blocks that masks keep, and of segments. */
#include <string.h>

#include "graph/promote.h"
#include "graph/shape.h"
#include "kernels/model.h"
#include "ops/product.h"

/* ---- blocks ---- */

enum { MASKS = 3 };
static const char *const mask_names[MASKS] = { "mask_out", "mask_a", "mask_b" };

/* Two matrices or batches that go together, of a dtype that has a product. */
static bool check_matrices(const char *name, struct lb_tensor *a, struct lb_tensor *b, enum lb_dtype *dtype,
			   const void *site)
{
	char ta[LB_SHAPE_TEXT], tb[LB_SHAPE_TEXT];
	if (a->rank < 2 || b->rank < 2 || a->shape[a->rank - 1] != b->shape[b->rank - 2])
		return lb_fail("%s: a %s and b %s must be matrices, (m, k) and (k, n)", name,
			       lb_shape_text(a->rank, a->shape, ta), lb_shape_text(b->rank, b->shape, tb));
	if (!lb_common_dtype(name, 2, (struct lb_tensor *[]){ a, b }, dtype, site))
		return false;
	return lb_dtype_is_inexact(*dtype) ||
	       lb_fail("%s: %s has no matrix product here; cast with lb_astype() to a floating dtype", name,
		       lb_dtypes[*dtype].name);
}

static int64_t blocks_of(int64_t size, int64_t block)
{
	return size / block + (size % block != 0);
}

/* The sizes of the matrix that mask i is of. */
static void sizes_of(int i, const struct lb_tensor *a, const struct lb_tensor *b, int64_t *rows, int64_t *columns)
{
	*rows = i == 2 ? b->shape[b->rank - 2] : a->shape[a->rank - 2];
	*columns = i == 1 ? a->shape[a->rank - 1] : b->shape[b->rank - 1];
}

static bool check_mask(int i, const struct lb_tensor *mask, const struct lb_tensor *a, const struct lb_tensor *b,
		       int64_t block)
{
	char text[LB_SHAPE_TEXT];
	int64_t rows, columns;
	sizes_of(i, a, b, &rows, &columns);
	int64_t down = blocks_of(rows, block), across = blocks_of(columns, block);
	if (mask->rank < 2 || mask->shape[mask->rank - 2] != down || mask->shape[mask->rank - 1] != across)
		return lb_fail(
		    "block_masked_mm: %s is %s; it must end with (%lld, %lld), for each block of %lld an element",
		    mask_names[i], lb_shape_text(mask->rank, mask->shape, text), (long long)down, (long long)across,
		    (long long)block);
	return mask->dtype == LB_BOOL || lb_dtype_is_float(mask->dtype) ||
	       lb_fail("block_masked_mm: %s is %s; cast it to bool, or to a floating dtype", mask_names[i],
		       lb_dtypes[mask->dtype].name);
}

/* Mask i with an element for each block, also where it has one for all rows or columns of them. */
static struct lb_tensor *of_each_block(int i, struct lb_tensor *mask, const struct lb_tensor *a,
				       const struct lb_tensor *b, int64_t block)
{
	int64_t shape[LB_MAX_RANK], rows, columns;
	if (mask->rank < 2)
		return mask;
	memcpy(shape, mask->shape, sizeof shape);
	sizes_of(i, a, b, &rows, &columns);
	int64_t *down = &shape[mask->rank - 2], *across = &shape[mask->rank - 1];
	rows = blocks_of(rows, block), columns = blocks_of(columns, block);
	if ((*down != 1 && *down != rows) || (*across != 1 && *across != columns))
		return mask;
	*down = rows, *across = columns;
	return lb_broadcast_to(mask, (lb_list){ mask->rank, shape });
}

static bool check_operands(struct lb_tensor *const *xs, int64_t block, enum lb_dtype *dtype, const void *site)
{
	static const char name[] = "block_masked_mm";
	if (block < 1)
		return lb_fail("%s: a block_size of %lld; it is 1 at least", name, (long long)block);
	return check_matrices(name, xs[0], xs[1], dtype, site);
}

static bool check_masks(struct lb_tensor *const *xs, int64_t block)
{
	for (int i = 0; i < MASKS; i++)
		if (xs[2 + i] && !check_mask(i, xs[2 + i], xs[0], xs[1], block))
			return false;
	return true;
}

/* The operation itself, of checked matrices of one dtype and three masks of bool. */
static struct lb_tensor *masked(struct lb_tensor **xs, int64_t block, enum lb_dtype dtype, const void *site)
{
	int rank = 0;
	int64_t shape[LB_MAX_RANK];
	for (int i = 0; i < 2 + MASKS; i++) {
		int more;
		int64_t wider[LB_MAX_RANK];
		if (!lb_broadcast("block_masked_mm", rank, shape, xs[i]->rank - 2, xs[i]->shape, &more, wider))
			return NULL;
		rank = more;
		memcpy(shape, wider, (size_t)rank * sizeof *shape);
	}
	if (rank + 2 > LB_MAX_RANK) {
		lb_fail("block_masked_mm: %d batch axes are too many", rank);
		return NULL;
	}
	shape[rank++] = xs[0]->shape[xs[0]->rank - 2];
	shape[rank++] = xs[1]->shape[xs[1]->rank - 1];
	struct lb_tensor *t = lb_tensor_begin(LB_OP_BLOCK_MASKED_MM, dtype, rank, shape, 2 + MASKS, xs, site);
	if (t)
		t->params[0] = block;
	return lb_tensor_publish(t);
}

/* Each element of a mask for its block. */
static struct lb_tensor *repeated(struct lb_tensor *mask, int64_t block, int64_t rows, int64_t columns,
				  enum lb_dtype dtype)
{
	int64_t most = rows > columns ? rows : columns;
	block = block < most ? block : most > 0 ? most : 1;
	struct lb_tensor *x = lb_repeat(lb_repeat(lb_astype(mask, dtype), block, -1), block, -2);
	return x ? lb_slice(x, LB_REST, LB_TO(rows), LB_TO(columns)) : NULL;
}

lb_tensor *lb_block_masked_mm(lb_tensor *a, lb_tensor *b, int64_t block_size, lb_tensor *mask_out, lb_tensor *mask_a,
			      lb_tensor *mask_b)
{
	LB_ENTER_WHOLE();
	const void *site = LB_SITE();
	if (!LB_GIVEN("block_masked_mm", a) || !LB_GIVEN("block_masked_mm", b))
		return NULL;
	struct lb_tensor *xs[2 + MASKS] = { a, b, mask_out, mask_a, mask_b }, *factors[MASKS] = { NULL };
	enum lb_dtype dtype;
	if (!check_operands(xs, block_size, &dtype, site))
		return NULL;
	for (int i = 0; i < MASKS; i++)
		if (xs[2 + i] && !(xs[2 + i] = of_each_block(i, xs[2 + i], a, b, block_size)))
			return NULL;
	if (!check_masks(xs, block_size))
		return NULL;
	for (int i = 0; i < MASKS; i++) {
		int64_t rows, columns;
		sizes_of(i, a, b, &rows, &columns);
		if (xs[2 + i] && xs[2 + i]->dtype != LB_BOOL) {
			factors[i] = repeated(xs[2 + i], block_size, rows, columns, dtype);
			xs[2 + i] = NULL;
			if (!factors[i])
				return NULL;
		}
		if (!xs[2 + i])
			xs[2 + i] =
			    lb_ones(LB_SHAPE(blocks_of(rows, block_size), blocks_of(columns, block_size)), LB_BOOL);
		if (!xs[2 + i])
			return NULL;
	}
	for (int i = 0; i < 2; i++) {
		xs[i] = lb_as(xs[i], dtype, site);
		xs[i] = xs[i] && factors[1 + i] ? lb_multiply(xs[i], factors[1 + i]) : xs[i];
		if (!xs[i])
			return NULL;
	}
	struct lb_tensor *y = masked(xs, block_size, dtype, site);
	return y && factors[0] ? lb_multiply(y, factors[0]) : y;
}

struct lb_tensor *lb_remake_block_masked_mm(const struct lb_recipe *r)
{
	struct lb_tensor *xs[2 + MASKS] = { r->x[0], r->x[1], r->x[2], r->x[3], r->x[4] };
	enum lb_dtype dtype;
	if (!check_operands(xs, r->params[0], &dtype, r->site) || !check_masks(xs, r->params[0]))
		return NULL;
	if (xs[0]->dtype != xs[1]->dtype || xs[2]->dtype != LB_BOOL || xs[3]->dtype != LB_BOOL ||
	    xs[4]->dtype != LB_BOOL)
		return lb_senseless(r);
	return masked(xs, r->params[0], dtype, r->site);
}

bool lb_compute_block_masked_mm(struct lb_exec *exec, struct lb_tensor *t)
{
	int batch = t->rank - 2;
	struct lb_view x[2 + MASKS];
	for (uint32_t i = 0; i < 2 + MASKS; i++)
		x[i] = lb_matrix_view(lb_tensor_input(t, i), false, batch, t->shape);
	return lb_kernel_block_masked_mm(exec, &x[0], &x[1], x + 2, t->params[0], lb_tensor_data(t));
}

/* ---- segments ---- */

lb_tensor *lb_segmented_mm(lb_tensor *a, lb_tensor *b, lb_tensor *segments)
{
	LB_ENTER();
	static const char name[] = "segmented_mm";
	enum lb_dtype dtype;
	if (!LB_GIVEN(name, a) || !LB_GIVEN(name, b) || !LB_GIVEN(name, segments) ||
	    !check_matrices(name, a, b, &dtype, site) || !lb_check_indices(name, segments))
		return NULL;
	char text[LB_SHAPE_TEXT];
	if (a->rank > 2 || b->rank > 2) {
		struct lb_tensor *x = a->rank > 2 ? a : b;
		lb_fail("%s: %s is a batch of matrices; it takes one a and one b, so call lb_vmap() for a batch", name,
			lb_shape_text(x->rank, x->shape, text));
		return NULL;
	}
	int rank = segments->rank - 1;
	if (rank < 0 || segments->shape[rank] != 2) {
		lb_fail("%s: segments %s must end with 2, for where each begins and ends", name,
			lb_shape_text(segments->rank, segments->shape, text));
		return NULL;
	}
	if (rank + 2 > LB_MAX_RANK) {
		lb_fail("%s: segments %s have more than %d axes", name,
			lb_shape_text(segments->rank, segments->shape, text), LB_MAX_RANK - 1);
		return NULL;
	}
	struct lb_tensor *xs[3] = { lb_as(a, dtype, site), lb_as(b, dtype, site), segments };
	int64_t shape[LB_MAX_RANK];
	memcpy(shape, segments->shape, (size_t)rank * sizeof *shape);
	shape[rank] = a->shape[0];
	shape[rank + 1] = b->shape[1];
	if (!xs[0] || !xs[1])
		return NULL;
	return lb_tensor_publish(lb_tensor_begin(LB_OP_SEGMENTED_MM, dtype, rank + 2, shape, 3, xs, site));
}

struct lb_tensor *lb_remake_segmented_mm(const struct lb_recipe *r)
{
	return lb_segmented_mm(r->x[0], r->x[1], r->x[2]);
}

bool lb_compute_segmented_mm(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view a = lb_view_of_input(t, 0), b = lb_view_of_input(t, 1), segments = lb_view_of_input(t, 2);
	return lb_kernel_segmented_mm(exec, &a, &b, &segments, lb_tensor_data(t));
}
