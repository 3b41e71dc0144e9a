/* Operations that go by elements, lines or axes: the axis of the batch is one more in front. */
#include "batch/rule.h"
#include "ops/conv.h"

struct lb_tensor *lb_batch_elementwise(struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	for (int i = 0; i < (int)b->t->n_inputs; i++)
		b->x[i] = lb_batch_aligned(b, i, b->t->rank);
	return lb_batch_remake(b, b->t->params, lb_sizes_list(&s));
}

/* Nothing in the parameters counts axes from the front. */
struct lb_tensor *lb_batch_in_front(struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	return lb_batch_all(b, 0, (int)b->t->n_inputs) ? lb_batch_remake(b, b->t->params, lb_sizes_list(&s)) : NULL;
}

static struct lb_tensor *with_param(struct lb_batching *b, int64_t first)
{
	struct lb_sizes s = lb_batch_sizes(b);
	int64_t params[LB_PARAMS];
	__builtin_memcpy(params, b->t->params, sizeof params);
	params[0] = first;
	return lb_batch_remake(b, params, lb_sizes_list(&s));
}

/* Parameter 0 is an axis. */
struct lb_tensor *lb_batch_along(struct lb_batching *b)
{
	return lb_batch_all(b, 0, (int)b->t->n_inputs) ? with_param(b, b->t->params[0] + 1) : NULL;
}

/* Parameter 0 is a mask of axes. */
struct lb_tensor *lb_batch_axes(struct lb_batching *b)
{
	return with_param(b, (int64_t)((uint32_t)b->t->params[0] << 1));
}

/* Over all axes, it gives the place in the row-major elements. */
struct lb_tensor *lb_batch_argreduce(struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	int64_t size = 1;
	if (b->t->params[0] >= 0)
		return with_param(b, b->t->params[0] + 1);
	for (int i = 0; i < lb_batch_rank(b, 0); i++)
		size *= lb_batch_shape(b, 0)[i];
	struct lb_tensor *flat = lb_reshape(b->x[0], LB_SHAPE(b->n, size));
	struct lb_tensor *y = (b->t->op == LB_OP_ARGMAX ? lb_argmax : lb_argmin)(flat, LB_AXES(1), false);
	return lb_reshape(y, lb_sizes_list(&s));
}

/* The parameters have what comes before each axis. */
struct lb_tensor *lb_batch_pad(struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	int64_t params[LB_PARAMS], low[2 * LB_PARAMS] = { 0 };
	if (b->batched[1])
		return lb_batch_in_slices(b);
	for (int i = 0; i < b->t->rank; i++)
		low[i + 1] = lb_conv_param(b->t->params[i / 2], i % 2);
	for (int i = 0; i < LB_PARAMS; i++)
		params[i] = lb_conv_pair(low[2 * i], low[2 * i + 1]);
	return lb_batch_remake(b, params, lb_sizes_list(&s));
}

struct lb_tensor *lb_batch_slices(struct lb_batching *b)
{
	return lb_batch_in_slices(b);
}
