#include "graph/promote.h"
#include "graph/shape.h"

/* params: 0 eps, 1 which of weight (1) and bias (2) are given */
static struct lb_tensor *norm(int op, struct lb_tensor *x, struct lb_tensor *weight, struct lb_tensor *bias,
			      double eps, const void *site)
{
	if (!x)
		return NULL;
	const char *name = lb_ops[op].name;
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
	if (!lb_common_dtype(name, n, xs, &dtype))
		return NULL;
	if (!lb_dtype_is_float(dtype)) {
		lb_fail("%s: not defined for %s; cast with lb_astype() to a floating dtype", name,
			lb_dtypes[dtype].name);
		return NULL;
	}
	for (int i = 0; i < n; i++) {
		xs[i] = lb_as(xs[i], dtype, site);
		if (!xs[i])
			return NULL;
	}
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
	return norm(LB_OP_LAYER_NORM, x, weight, bias, eps, site);
}

lb_tensor *lb_rms_norm(lb_tensor *x, lb_tensor *weight, double eps)
{
	LB_ENTER();
	return norm(LB_OP_RMS_NORM, x, weight, NULL, eps, site);
}
