/* Gathers and updates. Where each element of the batch has indices of its own, x is seen as (batch, places along the axis,
 * all else), and the indices as (batch, indices, 1). */
#include "batch/rule.h"

static int64_t product(int n, const int64_t *v)
{
	int64_t size = 1;
	for (int i = 0; i < n; i++)
		size *= v[i];
	return size;
}

/* Where the axes of x and of the indices are. */
struct places {
	int axis; /* as many axes come before it … */
	int behind; /* … and behind it */
	int n; /* axes of the indices */
	int64_t along, others, count; /* places along the axis, elements at each, indices */
	const int64_t *shape, *of_indices;
};

static struct places places_of(const struct lb_batching *b)
{
	int rank = lb_batch_rank(b, 0), axis = (int)b->t->params[0], n = lb_batch_rank(b, 1);
	const int64_t *shape = lb_batch_shape(b, 0), *of_indices = lb_batch_shape(b, 1);
	return (struct places){ axis,
				rank - axis - 1,
				n,
				shape[axis],
				product(axis, shape) * product(rank - axis - 1, shape + axis + 1),
				product(n, of_indices),
				shape,
				of_indices };
}

/* x as (batch, along, others). */
static struct lb_tensor *lines(const struct lb_batching *b, const struct places *p)
{
	return lb_reshape(lb_moveaxis(b->x[0], p->axis + 1, 1), LB_SHAPE(b->n, p->along, p->others));
}

static struct lb_tensor *indices(const struct lb_batching *b, const struct places *p)
{
	return lb_reshape(b->x[1], LB_SHAPE(b->n, p->count, 1));
}

/* y, (batch, so many more of `in_front`, axes before, axes behind), as (batch, axes before, in_front, behind); and back. */
static struct lb_tensor *moved(struct lb_tensor *y, const struct places *p, int in_front, bool back)
{
	int64_t axes[3 * LB_MAX_RANK] = { 0 };
	int n = 1, first = back ? p->axis : in_front, second = back ? in_front : p->axis;
	for (int i = 0; i < second; i++)
		axes[n++] = 1 + first + i;
	for (int i = 0; i < first; i++)
		axes[n++] = 1 + i;
	for (int i = 0; i < p->behind; i++, n++)
		axes[n] = n;
	return y ? lb_transpose(y, (lb_list){ n, axes }) : NULL;
}

struct lb_tensor *lb_batch_take(struct lb_batching *b)
{
	int axis = (int)b->t->params[0];
	if (!b->batched[1])
		return lb_take(b->x[0], b->x[1], axis + 1);
	if (!b->batched[0])
		return lb_moveaxis(lb_take(b->x[0], b->x[1], axis), axis, 0);
	struct places p = places_of(b);
	struct lb_tensor *y = lb_take_along_axis(lines(b, &p), indices(b, &p), 1);
	struct lb_sizes s = { 1, { b->n } };
	lb_sizes_add(&s, p.n, p.of_indices);
	lb_sizes_add(&s, axis, p.shape);
	lb_sizes_add(&s, p.behind, p.shape + axis + 1);
	return moved(lb_reshape(y, lb_sizes_list(&s)), &p, p.n, false);
}

/* Each value by itself, if all look into one line. */
struct lb_tensor *lb_batch_searchsorted(struct lb_batching *b)
{
	return b->batched[0] ? lb_batch_in_slices(b) : lb_searchsorted(b->x[0], b->x[1], b->t->params[1]);
}

struct lb_tensor *lb_batch_scatter_add(struct lb_batching *b)
{
	int axis = (int)b->t->params[0];
	if (!lb_batch_all(b, 0, 1) || !lb_batch_all(b, 2, 3))
		return NULL;
	if (!b->batched[1])
		return lb_scatter_add(b->x[0], b->x[1], b->x[2], axis + 1);
	struct places p = places_of(b);
	struct lb_tensor *updates = moved(b->x[2], &p, p.n, true);
	updates = updates ? lb_reshape(updates, LB_SHAPE(b->n, p.count, p.others)) : NULL;
	struct lb_tensor *y = lb_put_along_axis(lines(b, &p), indices(b, &p), updates, 1, LB_PUT_ADD);
	struct lb_sizes s = { 2, { b->n, p.along } };
	lb_sizes_add(&s, axis, p.shape);
	lb_sizes_add(&s, p.behind, p.shape + axis + 1);
	return moved(lb_reshape(y, lb_sizes_list(&s)), &p, 1, false);
}

/* The strides are a leaf's elements. */
struct lb_tensor *lb_batch_strided_add(struct lb_batching *b)
{
	const int64_t *strides = lb_tensor_data(b->x[2]);
	struct lb_sizes s = { 1, { b->t->size } };
	if (!lb_batch_all(b, 0, 2))
		return NULL;
	lb_sizes_add(&s, b->x[1]->rank - 1, strides);
	return lb_strided_add(b->x[0], b->x[1], lb_sizes_list(&s), b->t->params[0]);
}
