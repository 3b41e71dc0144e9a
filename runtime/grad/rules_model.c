/* The gradients of norms, attention and convolutions are operations themselves. Those of the first
 * two have in turn the gradient of the same computation written out: slower, and with all scores
 * in memory, but only second derivatives need it. */
#include <math.h>
#include <string.h>

#include "grad/rule.h"
#include "grad/transform.h"
#include "ops/conv.h"
#include "kernels/model.h"

enum { MOST = 5 }; /* inputs of an attention_grad */

/* The rule of an operation that computes what fn does; fn gets the application as its context. */
static bool as_function(const struct lb_vjp *v, lb_function *fn)
{
	struct lb_tensor *in[MOST], *out, *grads[MOST];
	int n = (int)v->t->n_inputs, n_wrt = 0, wrt[MOST];
	for (int i = 0; i < n; i++) {
		in[i] = lb_vjp_input(v, i);
		if (lb_vjp_wants(v, i))
			wrt[n_wrt++] = i;
	}
	if (!v->pull_back(&(struct lb_pullback){ .name = lb_ops[v->t->op].name,
						 .site = (const void *)(uintptr_t)v->t->site,
						 .fn = fn,
						 .context = (void *)v,
						 .n_in = n,
						 .n_wrt = n_wrt,
						 .n_out = 1,
						 .in = in,
						 .wrt = wrt,
						 .cotangents = &v->g,
						 .out = &out,
						 .grads = grads }))
		return false;
	for (int i = 0; i < n_wrt; i++) {
		if (!lb_vjp_give(v, wrt[i], grads[i]))
			return false;
	}
	return true;
}

/* ---- norms ---- */

bool lb_rule_norm(const struct lb_vjp *v)
{
	bool with_weight = v->t->params[1] & 1, with_bias = v->t->params[1] & 2;
	struct lb_tensor *x = lb_vjp_input(v, 0), *weight = with_weight ? lb_vjp_input(v, 1) : NULL;
	double eps = lb_param_double(v->t, 0);
	lb_norm_grads d = v->t->op == LB_OP_LAYER_NORM ? lb_layer_norm_grad(x, weight, v->g, eps)
						       : lb_rms_norm_grad(x, weight, v->g, eps);
	return lb_vjp_give(v, 0, d.x) && (!with_weight || lb_vjp_give(v, 1, d.weight)) &&
	       (!with_bias || lb_vjp_give(v, 1 + with_weight, d.bias));
}

/* The norm of x, times the weight if there is one; context: the gradient's rule. */
static bool norm_of(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct lb_tensor *t = ((const struct lb_vjp *)context)->t;
	struct lb_tensor *x = in[0];
	(void)n_out;
	if (t->op == LB_OP_LAYER_NORM_GRAD)
		x = lb_subtract(x, lb_mean(x, LB_AXES(-1), true));
	struct lb_tensor *size = lb_mean(lb_square(x), LB_AXES(-1), true);
	x = lb_multiply(x, lb_rsqrt(lb_add(size, lb_scalar(lb_param_double(t, 0)))));
	out[0] = n > 1 ? lb_multiply(x, in[1]) : x;
	return out[0] != NULL;
}

/* in: x, the result's gradient, and a weight or not */
static bool norm_grad(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct lb_vjp *v = context;
	const struct lb_tensor *t = v->t;
	struct lb_tensor *value, *grads[2], *over[2] = { in[0], n > 2 ? in[2] : NULL };
	(void)n_out;
	if (t->params[1] == LB_NORM_BIAS) {
		struct lb_tensor *rows = lb_reshape(in[1], LB_SHAPE(-1, lb_dim(in[0], -1)));
		out[0] = lb_sum(rows, LB_AXES(0), false);
		return out[0] != NULL;
	}
	if (!v->pull_back(&(struct lb_pullback){ .name = lb_ops[t->op].name,
						 .fn = norm_of,
						 .context = context,
						 .n_in = n - 1,
						 .n_wrt = n - 1,
						 .n_out = 1,
						 .in = over,
						 .cotangents = &in[1],
						 .out = &value,
						 .grads = grads }))
		return false;
	out[0] = grads[t->params[1] == LB_NORM_WEIGHT];
	return true;
}

bool lb_rule_norm_grad(const struct lb_vjp *v)
{
	return lb_vjp_input(v, 0)->size == 0 || as_function(v, norm_grad);
}

/* ---- attention ---- */

/* Which keys a query sees, where it sees the keys up to its own place counted from the end. */
static struct lb_tensor *seen_before(int64_t queries, int64_t keys)
{
	struct lb_tensor *key = lb_arange(0, (double)keys, 1, LB_I64);
	struct lb_tensor *last = lb_arange((double)(keys - queries), (double)keys, 1, LB_I64);
	return lb_less_equal(key, lb_reshape(last, LB_SHAPE(queries, 1)));
}

/* lb_attention() with all scores; in: q, k, v, and a mask or not. Heads of q are taken apart into
 * those of k and, behind them, those that share one. */
static bool attention_again(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct lb_tensor *t = ((const struct lb_vjp *)context)->t;
	struct lb_tensor *q = in[0], *k = in[1], *v = in[2];
	int64_t batch = q->shape[0], heads = k->shape[1], shared = q->shape[1] / heads;
	int64_t queries = q->shape[2], keys = k->shape[2];
	(void)n_out;
	lb_tensor *parts = lb_reshape(q, LB_SHAPE(batch, heads, shared, queries, q->shape[3]));
	lb_tensor *across = lb_expand_dims(lb_transpose(k, LB_AXES(0, 1, 3, 2)), LB_AXES(2));
	lb_tensor *scores = lb_scaled(lb_matmul(parts, across), lb_param_double(t, 0));
	lb_tensor *hidden = lb_scalar(-INFINITY);
	if (n > 3) {
		lb_tensor *mask = lb_broadcast_to(in[3], LB_SHAPE(batch, q->shape[1], queries, keys));
		mask = lb_reshape(mask, LB_SHAPE(batch, heads, shared, queries, keys));
		scores = in[3]->dtype == LB_BOOL ? lb_where(mask, scores, hidden) : lb_add(scores, mask);
	}
	if (t->params[1])
		scores = lb_where(seen_before(queries, keys), scores, hidden);
	/* where nothing is seen all of it is 0, and so is the sum */
	lb_tensor *most = lb_stop_gradient(lb_max(scores, LB_AXES(-1), true));
	most = lb_where(lb_equal(most, hidden), lb_scalar(0), most);
	lb_tensor *weights = lb_exp(lb_subtract(scores, most)), *sum = lb_sum(weights, LB_AXES(-1), true);
	weights = lb_divide(weights, lb_where(lb_equal(sum, lb_scalar(0)), lb_scalar(1), sum));
	lb_tensor *y = lb_matmul(weights, lb_expand_dims(v, LB_AXES(2)));
	y = lb_reshape(y, LB_SHAPE(batch, q->shape[1], queries, v->shape[3]));
	out[0] = y ? lb_astype(y, (lb_dtype)q->dtype) : NULL; /* a mask may be wider */
	return out[0] != NULL;
}

/* in: q, k, v, the result's gradient, and a mask or not */
static bool attention_grad(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	struct lb_tensor *value, *grads[3], *over[4] = { in[0], in[1], in[2], n > 4 ? in[4] : NULL };
	(void)n_out;
	const struct lb_vjp *v = context;
	if (!v->pull_back(&(struct lb_pullback){ .name = "attention_grad",
						 .fn = attention_again,
						 .context = context,
						 .n_in = n - 1,
						 .n_wrt = 3,
						 .n_out = 1,
						 .in = over,
						 .cotangents = &in[3],
						 .out = &value,
						 .grads = grads }))
		return false;
	for (int i = 0; i < 3; i++)
		grads[i] = lb_reshape(grads[i], LB_SHAPE(-1));
	out[0] = lb_concatenate(3, grads, 0);
	return out[0] != NULL;
}

bool lb_rule_attention(const struct lb_vjp *v)
{
	struct lb_tensor *q = lb_vjp_input(v, 0), *k = lb_vjp_input(v, 1), *value = lb_vjp_input(v, 2);
	struct lb_tensor *mask = v->t->n_inputs > 3 ? lb_vjp_input(v, 3) : NULL;
	if (v->t->size == 0 || k->size == 0)
		return true;
	if (mask && lb_vjp_wants(v, 3)) /* it has as many elements as the scores */
		return as_function(v, attention_again);
	lb_attention_grads d =
	    lb_attention_grad(q, k, value, lb_param_double(v->t, 0), v->t->params[1] != 0, mask, v->g);
	return lb_vjp_give(v, 0, d.q) && lb_vjp_give(v, 1, d.k) && lb_vjp_give(v, 2, d.v);
}

bool lb_rule_attention_grad(const struct lb_vjp *v)
{
	return lb_vjp_input(v, 0)->size == 0 || lb_vjp_input(v, 1)->size == 0 || as_function(v, attention_grad);
}

/* ---- convolutions ---- */

/* The result, x and the weight: of the three, the operation takes two and gives the third, and so do
 * its gradients. */
bool lb_rule_conv(const struct lb_vjp *v)
{
	struct lb_tensor *a = lb_vjp_input(v, 0), *b = lb_vjp_input(v, 1), *g = v->g;
	lb_conv_options o = lb_conv_options_of(v->t->params);
	lb_list of_a = lb_shape_of(a), of_b = lb_shape_of(b);
	bool first = lb_vjp_wants(v, 0), second = lb_vjp_wants(v, 1);
	switch (v->t->op) {
	case LB_OP_CONV2D: /* of x and the weight */
		return (!first || lb_vjp_give(v, 0, lb_conv2d_input_grad(of_a, b, g, o))) &&
		       (!second || lb_vjp_give(v, 1, lb_conv2d_weight_grad(a, of_b, g, o)));
	case LB_OP_CONV2D_INPUT_GRAD: /* of the weight and the result's gradient */
		return (!first || lb_vjp_give(v, 0, lb_conv2d_weight_grad(g, of_a, b, o))) &&
		       (!second || lb_vjp_give(v, 1, lb_conv2d(g, a, o)));
	default: /* of x and the result's gradient */
		return (!first || lb_vjp_give(v, 0, lb_conv2d_input_grad(of_a, g, b, o))) &&
		       (!second || lb_vjp_give(v, 1, lb_conv2d(a, g, o)));
	}
}
