#include "grad/rule.h"

bool lb_rule_take(const struct lb_vjp *v)
{
	struct lb_tensor *x = lb_vjp_input(v, 0);
	return lb_vjp_put(v, x, lb_scatter_add(lb_vjp_so_far(v, x), lb_vjp_input(v, 1), v->g, (int)v->t->params[0]));
}

/* x's axes may have been broadcast to those of the indices. */
bool lb_rule_take_along(const struct lb_vjp *v)
{
	const struct lb_tensor *x = lb_vjp_input(v, 0);
	int axis = (int)v->t->params[0];
	int64_t shape[LB_MAX_RANK];
	for (int i = 0; i < x->rank; i++)
		shape[i] = i == axis ? x->shape[i] : v->t->shape[i];
	struct lb_tensor *sum = lb_zeros((lb_list){ x->rank, shape }, (lb_dtype)x->dtype);
	return lb_vjp_give(v, 0, lb_put_along_axis(sum, lb_vjp_input(v, 1), v->g, axis, LB_PUT_ADD));
}

/* ---- order ---- */

/* Element i came from place order[i]; the order's own order says where that went. */
bool lb_rule_sort(const struct lb_vjp *v)
{
	int axis = (int)v->t->params[0];
	struct lb_tensor *places = lb_argsort(lb_argsort(lb_vjp_input(v, 0), axis), axis);
	return lb_vjp_give(v, 0, lb_take_along_axis(v->g, places, axis));
}

bool lb_rule_topk(const struct lb_vjp *v)
{
	int axis = (int)v->t->params[0];
	int64_t k = v->t->params[1], n = lb_vjp_input(v, 0)->shape[axis];
	lb_index index[LB_MAX_RANK];
	if (k == 0)
		return true;
	for (int i = 0; i < axis; i++)
		index[i] = LB_ALL;
	index[axis] = LB_RANGE(n - 1, k == n ? LB_END : n - 1 - k, -1);
	struct lb_tensor *places = lb_slice_n(lb_argsort(lb_vjp_input(v, 0), axis), axis + 1, index);
	return lb_vjp_give(v, 0, lb_put_along_axis(lb_zeros_of(lb_vjp_input(v, 0)), places, v->g, axis, LB_PUT_ADD));
}

/* ---- updates ---- */

/* slice_update and slice_add: where the update went. */
bool lb_rule_slice_update(const struct lb_vjp *v)
{
	const struct lb_tensor *t = v->t, *u = lb_vjp_input(v, 1);
	int64_t strides[LB_MAX_RANK];
	lb_index index[LB_MAX_RANK];
	if (u->size == 0)
		return lb_vjp_give(v, 0, v->g);
	for (int i = 0; i < t->rank; i++) {
		int64_t start = t->params[0] / t->strides[i] % t->shape[i];
		int64_t step = t->params[1] / t->strides[i] % t->shape[i] + 1;
		strides[i] = t->strides[i] * step;
		index[i] = LB_RANGE(start, start + (u->shape[i] - 1) * step + 1, step);
	}
	struct lb_tensor *around = v->g;
	if (t->op == LB_OP_SLICE_UPDATE && lb_vjp_wants(v, 0))
		around = lb_slice_update_n(v->g, lb_scalar(0), t->rank, index);
	return lb_vjp_give(v, 0, around) &&
	       (!lb_vjp_wants(v, 1) ||
		lb_vjp_give(v, 1, lb_as_strided(v->g, lb_shape_of(u), (lb_list){ t->rank, strides }, t->params[0])));
}

/* The strides are a leaf's elements. */
bool lb_rule_strided_add(const struct lb_vjp *v)
{
	const struct lb_tensor *u = lb_vjp_input(v, 1);
	lb_list strides = { u->rank, lb_tensor_data(lb_vjp_input(v, 2)) };
	return lb_vjp_give(v, 0, v->g) &&
	       (!lb_vjp_wants(v, 1) ||
		lb_vjp_give(v, 1, lb_as_strided(v->g, lb_shape_of(u), strides, v->t->params[0])));
}

bool lb_rule_scatter_add(const struct lb_vjp *v)
{
	return lb_vjp_give(v, 0, v->g) &&
	       (!lb_vjp_wants(v, 2) || lb_vjp_give(v, 2, lb_take(v->g, lb_vjp_input(v, 1), (int)v->t->params[0])));
}

/* Of several values for one element only the last has an effect: whose position is still there
 * when positions are put instead. */
static struct lb_tensor *of_winners(const struct lb_vjp *v, struct lb_tensor *indices, int axis, struct lb_tensor *d)
{
	int64_t shape[LB_MAX_RANK];
	for (int i = 0; i < v->t->rank; i++)
		shape[i] = i == axis ? indices->shape[i] : 1;
	struct lb_tensor *position =
	    lb_reshape(lb_arange(0, (double)indices->shape[axis], 1, LB_I64), (lb_list){ v->t->rank, shape });
	struct lb_tensor *put =
	    lb_put_along_axis(lb_zeros(lb_shape_of(v->t), LB_I64), indices, position, axis, LB_PUT_ASSIGN);
	return lb_where(lb_equal(lb_take_along_axis(put, indices, axis), position), d, lb_scalar(0));
}

bool lb_rule_put_along(const struct lb_vjp *v)
{
	struct lb_tensor *indices = lb_vjp_input(v, 1), *around = v->g;
	int axis = (int)v->t->params[0];
	bool assigns = v->t->params[1] == LB_PUT_ASSIGN;
	if (v->t->params[1] > LB_PUT_ADD)
		return lb_fail("put_along_axis: with LB_PUT_MULTIPLY, LB_PUT_MAX and LB_PUT_MIN it has no gradient");
	if (assigns && lb_vjp_wants(v, 0))
		around = lb_put_along_axis(v->g, indices, lb_scalar(0), axis, LB_PUT_ASSIGN);
	if (!lb_vjp_give(v, 0, around))
		return false;
	if (!lb_vjp_wants(v, 2))
		return true;
	struct lb_tensor *d = lb_take_along_axis(v->g, indices, axis);
	return lb_vjp_give(v, 2, assigns ? of_winners(v, indices, axis, d) : d);
}
