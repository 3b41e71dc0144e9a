#include "grad/rule.h"
#include "kernels/kernels.h"

static lb_quant how_of(const struct lb_tensor *t)
{
	return (lb_quant){ .mode = (lb_quant_mode)t->params[0], .bits = (int)t->params[1], .group = (int)t->params[2] };
}

static lb_quantized quantized(const struct lb_vjp *v, int first)
{
	lb_quantized q = { .w = lb_vjp_input(v, first), .scales = lb_vjp_input(v, first + 1) };
	if ((int)v->t->n_inputs > first + 2)
		*(v->t->params[0] == LB_QUANT_AFFINE ? &q.biases : &q.global_scale) = lb_vjp_input(v, first + 2);
	return q;
}

bool lb_rule_quantize(const struct lb_vjp *v)
{
	return lb_vjp_fail(v, "rounding to codes has no gradient; put lb_stop_gradient() around what is "
			      "quantised, or lb_custom_vjp() around quantising and dequantising");
}

/* What was quantised inside the function: the gradient would go on through the codes. */
static bool comes_from_quantize(const struct lb_vjp *v, int first)
{
	for (int i = first; i < (int)v->t->n_inputs; i++) {
		const struct lb_tensor *x = lb_vjp_input(v, i);
		if (x->op == LB_OP_QUANTIZE && lb_vjp_wants(v, i))
			return true;
	}
	return false;
}

/* Of codes that are constant there is nothing to ask for. */
bool lb_rule_from_fp8(const struct lb_vjp *v)
{
	return !lb_vjp_wants(v, 0) ||
	       lb_rule_quantize(&(struct lb_vjp){ v->walk, lb_vjp_input(v, 0), NULL, v->pull_back });
}

/* Sums over the groups of the last axis. */
static struct lb_tensor *by_groups(struct lb_tensor *x, int64_t group)
{
	int64_t shape[LB_MAX_RANK + 1];
	if (!x)
		return NULL;
	if (x->rank == LB_MAX_RANK) { /* one axis more does not fit: the first two go together */
		struct lb_tensor *flat = by_groups(lb_flatten(x, 0, 1), group);
		for (int i = 0; i < x->rank; i++)
			shape[i] = i == x->rank - 1 ? x->shape[i] / group : x->shape[i];
		return lb_reshape(flat, (lb_list){ x->rank, shape });
	}
	for (int i = 0; i < x->rank; i++)
		shape[i] = x->shape[i];
	shape[x->rank - 1] = x->shape[x->rank - 1] / group;
	shape[x->rank] = group;
	return lb_sum(lb_reshape(x, (lb_list){ x->rank + 1, shape }), LB_AXES(-1), false);
}

/* affine: code * scale + bias; nvfp4 is proportional to its global scale. */
bool lb_rule_dequantize(const struct lb_vjp *v)
{
	lb_quantized q = quantized(v, 0);
	lb_quant how = how_of(v->t);
	if (comes_from_quantize(v, 0))
		return lb_rule_quantize(&(struct lb_vjp){ v->walk, lb_vjp_input(v, 0), NULL, v->pull_back });
	if (how.mode != LB_QUANT_AFFINE) {
		if (!q.global_scale || !lb_vjp_wants(v, 2))
			return true;
		struct lb_tensor *all = lb_sum(lb_multiply(v->g, v->t), LB_ALL_AXES, false);
		return lb_vjp_give(v, 2, lb_divide(lb_reshape(all, lb_shape_of(q.global_scale)), q.global_scale));
	}
	int64_t group = how.group;
	if (lb_vjp_wants(v, 1)) {
		lb_quantized codes = { .w = q.w,
				       .scales = lb_full(lb_shape_of(q.scales), 1, (lb_dtype)q.scales->dtype),
				       .biases = lb_zeros_of(q.biases) };
		struct lb_tensor *d = lb_multiply(v->g, lb_dequantize(codes, how, (lb_dtype)v->t->dtype));
		if (!lb_vjp_give(v, 1, by_groups(d, group)))
			return false;
	}
	return !lb_vjp_wants(v, 2) || lb_vjp_give(v, 2, by_groups(v->g, group));
}

/* What is quantised, from input `first` on, has no gradient in a product. */
static bool is_constant(const struct lb_vjp *v, int first)
{
	if (comes_from_quantize(v, first))
		return lb_rule_quantize(&(struct lb_vjp){ v->walk, lb_vjp_input(v, first), NULL, v->pull_back });
	for (int i = first + 1; i < (int)v->t->n_inputs; i++) {
		if (lb_vjp_wants(v, i))
			return lb_vjp_fail(v, "has a gradient by x alone; for one by scales or biases, multiply what "
					      "lb_dequantize() gives");
	}
	return true;
}

static bool is_transposed(const struct lb_tensor *t)
{
	return t->params[3] & LB_QUANT_TRANSPOSED;
}

/* g times w the other way round. */
bool lb_rule_quantized_matmul(const struct lb_vjp *v)
{
	return is_constant(v, 1) &&
	       lb_vjp_give(v, 0, lb_quantized_matmul(v->g, quantized(v, 1), how_of(v->t), !is_transposed(v->t)));
}

/* The same, added to the matrices of x that were chosen. */
bool lb_rule_gather_qmm(const struct lb_vjp *v)
{
	struct lb_tensor *x = lb_vjp_input(v, 0), *left = lb_vjp_input(v, 1);
	int64_t m = x->shape[x->rank - 2], k = x->shape[x->rank - 1], matrices = 1, products = 1;
	lb_list chosen = { v->t->rank - 2, v->t->shape };
	if (!is_constant(v, 3))
		return false;
	for (int i = 0; i < x->rank - 2; i++)
		matrices *= x->shape[i];
	for (int i = 0; i < chosen.n; i++)
		products *= chosen.v[i];
	struct lb_tensor *d = lb_gather_qmm(v->g, quantized(v, 3), NULL, lb_broadcast_to(lb_vjp_input(v, 2), chosen),
					    how_of(v->t), !is_transposed(v->t));
	struct lb_tensor *sum = lb_zeros(LB_SHAPE(matrices, m, k), (lb_dtype)x->dtype);
	left = lb_reshape(lb_broadcast_to(left, chosen), LB_SHAPE(products));
	d = d ? lb_scatter_add(sum, left, lb_reshape(d, LB_SHAPE(products, m, k)), 0) : NULL;
	return d && lb_vjp_give(v, 0, lb_reshape(d, lb_shape_of(x)));
}
