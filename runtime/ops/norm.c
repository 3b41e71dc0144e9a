#include "graph/promote.h"
#include "graph/shape.h"
#include "kernels/model.h"
#include "ops/operation.h"

/* params: 0 eps, 1 which of weight (1) and bias (2) are given */
static struct lb_tensor *norm_node(int op, struct lb_tensor *x, struct lb_tensor *weight, struct lb_tensor *bias,
				   double eps, const void *site)
{
	const char *name = lb_ops[op].name;
	if (!LB_GIVEN(name, x))
		return NULL;
	struct lb_tensor *xs[3] = { x };
	int n = 1;
	if (weight)
		xs[n++] = weight;
	if (bias)
		xs[n++] = bias;
	char tx[LB_SHAPE_TEXT], tv[LB_SHAPE_TEXT];
	if (x->rank < 1) {
		lb_fail("%s: a scalar has no last axis to normalise", name);
		return NULL;
	}
	for (int i = 1; i < n; i++) {
		if (xs[i]->rank == 1 && xs[i]->shape[0] == x->shape[x->rank - 1])
			continue;
		lb_fail("%s: %s %s must be a vector as long as the last axis of x %s", name,
			xs[i] == weight ? "weight" : "bias", lb_shape_text(xs[i]->rank, xs[i]->shape, tv),
			lb_shape_text(x->rank, x->shape, tx));
		return NULL;
	}
	if (!(eps >= 0)) {
		lb_fail("%s: eps must not be negative, it is %g", name, eps);
		return NULL;
	}
	enum lb_dtype dtype;
	if (!lb_common_float(name, n, xs, &dtype, site))
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(op, dtype, x->rank, x->shape, n, xs, site);
	if (t) {
		lb_param_set_double(t, 0, eps);
		t->params[1] = (weight ? 1 : 0) | (bias ? 2 : 0);
	}
	return lb_tensor_publish(t);
}

lb_tensor *lb_layer_norm(lb_tensor *x, lb_tensor *weight, lb_tensor *bias, double eps)
{
	LB_ENTER();
	return norm_node(LB_OP_LAYER_NORM, x, weight, bias, eps, site);
}

lb_tensor *lb_rms_norm(lb_tensor *x, lb_tensor *weight, double eps)
{
	LB_ENTER();
	return norm_node(LB_OP_RMS_NORM, x, weight, NULL, eps, site);
}

/* Inputs: x, grad, and weight if there is one. params: 0 eps, 1 the part */
static struct lb_tensor *norm_grad(int op, int n, struct lb_tensor *const *xs, double eps, enum lb_norm_part part,
				   enum lb_dtype dtype, const void *site)
{
	const struct lb_tensor *x = xs[0];
	bool whole = part == LB_NORM_X;
	struct lb_tensor *t =
	    lb_tensor_begin(op, dtype, whole ? x->rank : 1, whole ? x->shape : &x->shape[x->rank - 1], n, xs, site);
	if (t) {
		lb_param_set_double(t, 0, eps);
		t->params[1] = part;
	}
	return lb_tensor_publish(t);
}

static lb_norm_grads norm_grads(int op, struct lb_tensor *x, struct lb_tensor *weight, struct lb_tensor *grad,
				double eps, const void *site)
{
	lb_norm_grads grads = { 0 };
	const char *name = lb_ops[op].name;
	struct lb_tensor *xs[3] = { x, grad, weight };
	enum lb_dtype dtype;
	int n = weight ? 3 : 2;
	if (!LB_GIVEN(name, x) || !LB_GIVEN(name, grad))
		return grads;
	if (x->rank < 1 || !lb_same_shape(x->rank, x->shape, grad->rank, grad->shape) ||
	    (weight && (weight->rank != 1 || weight->shape[0] != x->shape[x->rank - 1])) || !(eps >= 0)) {
		char tx[LB_SHAPE_TEXT], tg[LB_SHAPE_TEXT];
		lb_fail("%s: x %s, grad %s, eps %g: grad must have x's shape, weight be a vector as long as its "
			"last axis, eps not negative",
			name, lb_shape_text(x->rank, x->shape, tx), lb_shape_text(grad->rank, grad->shape, tg), eps);
		return grads;
	}
	if (!lb_common_float(name, n, xs, &dtype, site))
		return grads;
	lb_tensor *dx = norm_grad(op, n, xs, eps, LB_NORM_X, dtype, site);
	lb_tensor *dw = weight ? norm_grad(op, n, xs, eps, LB_NORM_WEIGHT, dtype, site) : NULL;
	lb_tensor *db = op == LB_OP_LAYER_NORM_GRAD ? norm_grad(op, n, xs, eps, LB_NORM_BIAS, dtype, site) : NULL;
	if (dx && (dw || !weight) && (db || op != LB_OP_LAYER_NORM_GRAD))
		grads = (lb_norm_grads){ dx, dw, db };
	return grads;
}

lb_norm_grads lb_layer_norm_grad(lb_tensor *x, lb_tensor *weight, lb_tensor *grad, double eps)
{
	LB_ENTER();
	return norm_grads(LB_OP_LAYER_NORM_GRAD, x, weight, grad, eps, site);
}

lb_norm_grads lb_rms_norm_grad(lb_tensor *x, lb_tensor *weight, lb_tensor *grad, double eps)
{
	LB_ENTER();
	return norm_grads(LB_OP_RMS_NORM_GRAD, x, weight, grad, eps, site);
}

/* ---- made anew, and computed ---- */

struct lb_tensor *lb_remake_norm(const struct lb_recipe *r)
{
	struct lb_tensor *weight = r->params[1] & 1 ? lb_recipe_input(r, 1) : NULL;
	struct lb_tensor *bias = r->params[1] & 2 ? lb_recipe_input(r, weight ? 2 : 1) : NULL;
	if (r->n != 1 + (weight != NULL) + (bias != NULL))
		return lb_senseless(r);
	return norm_node(r->op, r->x[0], weight, bias, lb_recipe_double(r, 0), r->site);
}

bool lb_compute_norm(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0), weight, bias;
	struct lb_norm norm = {
		.op = lb_ops[t->op].name, .x = &x, .eps = lb_param_double(t, 0), .center = t->op == LB_OP_LAYER_NORM
	};
	uint32_t next = 1;
	if (t->params[1] & 1) {
		weight = lb_view_of_input(t, next++);
		norm.weight = &weight;
	}
	if (t->params[1] & 2) {
		bias = lb_view_of_input(t, next);
		norm.bias = &bias;
	}
	return lb_kernel_norm(exec, &norm, lb_tensor_data(t));
}

struct lb_tensor *lb_remake_norm_grad(const struct lb_recipe *r)
{
	lb_norm_grads grads =
	    norm_grads(r->op, r->x[0], lb_recipe_input(r, 2), r->x[1], lb_recipe_double(r, 0), r->site);
	struct lb_tensor *const parts[] = { grads.x, grads.weight, grads.bias };
	bool has_part = r->params[1] >= 0 && r->params[1] < LB_NORM_PARTS && parts[r->params[1]];
	return has_part ? parts[r->params[1]] : lb_senseless(r);
}

bool lb_compute_norm_grad(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0), grad = lb_view_of_input(t, 1), weight;
	struct lb_norm norm = { .op = lb_ops[t->op].name,
				.x = &x,
				.eps = lb_param_double(t, 0),
				.center = t->op == LB_OP_LAYER_NORM_GRAD };
	if (t->n_inputs > 2) {
		weight = lb_view_of_input(t, 2);
		norm.weight = &weight;
	}
	return lb_kernel_norm_grad(exec, &norm, (enum lb_norm_part)t->params[1], &grad, lb_tensor_data(t));
}
