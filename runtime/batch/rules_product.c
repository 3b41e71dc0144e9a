/* Products, and what else goes by matrices: their batch axes broadcast from the last one on, and the axis of the batch comes
 * before them all. */
#include "batch/rule.h"
#include "ops/linalg.h"

static int batch_axes(const struct lb_batching *b, int i)
{
	int rank = lb_batch_rank(b, i);
	return rank > 2 ? rank - 2 : 0;
}

static bool is_vector(const struct lb_batching *b, int i)
{
	return b->batched[i] && lb_batch_rank(b, i) == 1;
}

/* An operand with `axes` batch axes behind that of the batch; of a vector for each element the row or column that it
 * stands for. */
static struct lb_tensor *matrix(const struct lb_batching *b, int i, int axes, bool is_right)
{
	struct lb_sizes s = { 1, { b->n } };
	if (!b->batched[i])
		return b->x[i];
	lb_sizes_add_ones(&s, axes - batch_axes(b, i) + (is_vector(b, i) && !is_right));
	lb_sizes_add(&s, lb_batch_rank(b, i), lb_batch_shape(b, i));
	lb_sizes_add_ones(&s, is_vector(b, i) && is_right);
	return lb_reshape(b->x[i], lb_sizes_list(&s));
}

/* c over the product of operands that matrix() gave. */
static struct lb_tensor *addend(const struct lb_batching *b, const struct lb_sizes *whole,
				const struct lb_sizes *product)
{
	return lb_reshape(lb_broadcast_to(lb_batch_aligned(b, 2, b->t->rank), lb_sizes_list(whole)),
			  lb_sizes_list(product));
}

/* Vectors for one and the same matrix are the rows of another. */
static struct lb_tensor *rows_by_matrix(struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	if (b->t->n_inputs > 2)
		b->x[2] = lb_batch_aligned(b, 2, b->t->rank);
	if (b->batched[1]) {
		struct lb_tensor *across = lb_transpose(b->x[0], LB_ALL_AXES);
		b->x[0] = b->x[1];
		b->x[1] = across;
	}
	return lb_batch_remake(b, b->t->params, lb_sizes_list(&s));
}

struct lb_tensor *lb_batch_product(struct lb_batching *b)
{
	const struct lb_tensor *t = b->t;
	if (!b->batched[0] && !b->batched[1] && !lb_batch_all(b, 0, 1)) /* what is added alone */
		return NULL;
	int rank_a = lb_batch_rank(b, 0), rank_b = lb_batch_rank(b, 1);
	int axes = batch_axes(b, 0) > batch_axes(b, 1) ? batch_axes(b, 0) : batch_axes(b, 1);
	if ((is_vector(b, 0) && !b->batched[1] && rank_b == 2) || (is_vector(b, 1) && !b->batched[0] && rank_a == 2))
		return rows_by_matrix(b);
	struct lb_sizes whole = lb_batch_sizes(b), made = { 1, { b->n } };
	lb_sizes_add(&made, axes, t->shape);
	lb_sizes_add_ones(&made, is_vector(b, 0));
	lb_sizes_add(&made, t->rank - axes, t->shape + axes);
	lb_sizes_add_ones(&made, is_vector(b, 1));
	if (t->n_inputs > 2)
		b->x[2] = addend(b, &whole, &made);
	struct lb_tensor *a = matrix(b, 0, axes, false);
	b->x[1] = matrix(b, 1, axes, true);
	b->x[0] = a;
	return lb_reshape(lb_batch_remake(b, t->params, lb_sizes_list(&made)), lb_sizes_list(&whole));
}

/* The words, scales and what comes with them belong to one matrix. */
struct lb_tensor *lb_batch_quantized_matmul(struct lb_batching *b)
{
	const struct lb_tensor *t = b->t;
	int n = (int)t->n_inputs, parts = t->params[0] == LB_QUANT_AFFINE ? 4 : 3;
	bool is_batched = false;
	if (n > parts && b->batched[3])
		return lb_batch_in_slices(b);
	for (int i = 1; i < parts; i++)
		is_batched = is_batched || b->batched[i];
	struct lb_sizes whole = lb_batch_sizes(b);
	if (is_vector(b, 0) && !is_batched && lb_batch_rank(b, 1) == 2)
		return lb_batch_remake(b, t->params, lb_sizes_list(&whole));
	if (is_batched && !lb_batch_all(b, 1, parts))
		return NULL;
	int axes = batch_axes(b, 0) > batch_axes(b, 1) ? batch_axes(b, 0) : batch_axes(b, 1);
	struct lb_tensor *x = matrix(b, 0, axes, false);
	for (int i = 1; i < parts; i++)
		b->x[i] = matrix(b, i, axes, true);
	b->x[0] = x;
	return lb_reshape(lb_batch_remake(b, t->params, lb_sizes_list(&whole)), lb_sizes_list(&whole));
}

struct lb_tensor *lb_batch_gather_qmm(struct lb_batching *b)
{
	return lb_batch_in_slices(b);
}

/* ---- linear algebra ---- */

struct lb_tensor *lb_batch_solve(struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	int axes = batch_axes(b, 0) > batch_axes(b, 1) ? batch_axes(b, 0) : batch_axes(b, 1);
	struct lb_tensor *a = matrix(b, 0, axes, false);
	b->x[1] = matrix(b, 1, axes, true);
	b->x[0] = a;
	return lb_batch_remake(b, b->t->params, lb_sizes_list(&s));
}

/* Several results lie one after another. */
struct lb_tensor *lb_batch_linalg(struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	int64_t sizes[3];
	struct lb_tensor *y = lb_batch_remake(b, b->t->params, lb_sizes_list(&s));
	int n = y ? lb_linalg_parts(b->t->op, lb_tensor_input(b->t, 0), b->t->params[1] != 0, sizes) : 0;
	return n > 1 ? lb_batch_interleaved(b, y, n, sizes) : y;
}
