#include "grad/overlap.h"
#include "grad/rule.h"
#include "ops/conv.h"
#include "graph/shape.h"

/* Reshape, flatten, expand_dims, squeeze. */
bool lb_rule_reshape(const struct lb_vjp *v)
{
	return lb_vjp_give(v, 0, lb_reshape(v->g, lb_shape_of(lb_vjp_input(v, 0))));
}

/* Finds the axes by their sizes and strides. */
bool lb_rule_transpose(const struct lb_vjp *v)
{
	const struct lb_tensor *x = lb_vjp_input(v, 0), *t = v->t;
	int64_t axes[LB_MAX_RANK];
	uint32_t used = 0;
	if (x->size == 0)
		return true;
	for (int i = 0; i < t->rank; i++) {
		for (int j = 0; j < x->rank; j++) {
			if (used & 1u << j || t->shape[i] != x->shape[j] ||
			    (t->shape[i] > 1 && t->strides[i] != x->strides[j]))
				continue;
			used |= 1u << j;
			axes[j] = i;
			break;
		}
	}
	return lb_vjp_give(v, 0, lb_transpose(v->g, (lb_list){ x->rank, axes }));
}

/* Slice and as_strided: added to where they look. */
bool lb_rule_window(const struct lb_vjp *v)
{
	const struct lb_tensor *t = v->t;
	struct lb_tensor *x = lb_vjp_input(v, 0);
	lb_list strides = { t->rank, t->strides };
	int64_t low, high;
	if (t->size == 0)
		return true;
	while (!lb_elements_differ(x)) /* then it is a view */
		x = lb_tensor_input(x, 0);
	if (lb_is_row_major(x->rank, x->shape, x->strides)) {
		struct lb_tensor *sum = lb_vjp_so_far(v, x);
		return lb_vjp_put(v, x, lb_strided_add(sum, v->g, strides, t->offset - x->offset));
	}
	if (!lb_strided_reach(x->rank, x->shape, x->strides, x->offset, &low, &high))
		return lb_vjp_fail(v, "its input reaches too far");
	struct lb_tensor *storage = lb_zeros(LB_SHAPE(high - low + 1), (lb_dtype)t->dtype);
	storage = lb_strided_add(storage, v->g, strides, t->offset - low);
	return lb_vjp_give_to(v, x,
			      lb_as_strided(storage, lb_shape_of(x), (lb_list){ x->rank, x->strides },
					    x->offset - low));
}

/* Elements from start on along an axis of g. */
static struct lb_tensor *part(struct lb_tensor *g, int axis, int64_t start, int64_t n)
{
	lb_index index[LB_MAX_RANK];
	for (int i = 0; i < axis; i++)
		index[i] = LB_ALL;
	index[axis] = LB_RANGE(start, start + n);
	return lb_slice_n(g, axis + 1, index);
}

bool lb_rule_concatenate(const struct lb_vjp *v)
{
	int axis = (int)v->t->params[0];
	int64_t start = 0;
	for (int i = 0; i < (int)v->t->n_inputs; i++) {
		int64_t n = lb_vjp_input(v, i)->shape[axis];
		if (lb_vjp_wants(v, i) && !lb_vjp_give(v, i, part(v->g, axis, start, n)))
			return false;
		start += n;
	}
	return true;
}

/* The value around x is a constant. */
bool lb_rule_pad(const struct lb_vjp *v)
{
	const struct lb_tensor *x = lb_vjp_input(v, 0);
	lb_index index[LB_MAX_RANK];
	for (int i = 0; i < x->rank; i++) {
		int64_t start = lb_conv_param(v->t->params[i / 2], i % 2);
		index[i] = LB_RANGE(start, start + x->shape[i]);
	}
	return lb_vjp_give(v, 0, lb_slice_n(v->g, x->rank, index));
}
