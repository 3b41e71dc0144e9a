/* Optimisers, as their definitions say: the runtime's own are functions of a training loop, not of tensors alone. Inputs: the
 * rate, the step, then of n tensors the values, the gradients, and what is kept of them. */
#include <string.h>

#include "ops.h"

static lb_tensor *times(lb_tensor *x, double by)
{
	return lb_multiply(x, lb_scalar(by));
}

/* The gradient, with what draws the value to 0. */
static lb_tensor *regularised(struct onnx_call *c, lb_tensor *x, lb_tensor *grad)
{
	return lb_add(grad, times(x, onnx_float(c, "norm_coefficient", 0)));
}

static lb_tensor *adagrad(struct onnx_call *c)
{
	int n = (c->node->n_in - 2) / 3;
	double decay = onnx_float(c, "decay_factor", 0), eps = onnx_float(c, "epsilon", 1e-6);
	lb_tensor *step = lb_astype(c->in[1], LB_F32),
		  *rate = lb_divide(c->in[0], lb_add(lb_scalar(1), times(step, decay)));
	for (int i = 0; i < n; i++) {
		lb_tensor *x = c->in[2 + i], *g = regularised(c, x, c->in[2 + n + i]),
			  *h = lb_add(c->in[2 + 2 * n + i], lb_square(g));
		c->out[i] = lb_subtract(x, lb_divide(lb_multiply(rate, g), lb_add(lb_sqrt(h), lb_scalar(eps))));
		c->out[n + i] = h;
	}
	return c->out[0];
}

static lb_tensor *adam(struct onnx_call *c)
{
	int n = (c->node->n_in - 2) / 4;
	double alpha = onnx_float(c, "alpha", 0.9), beta = onnx_float(c, "beta", 0.999),
	       eps = onnx_float(c, "epsilon", 1e-6);
	double after = onnx_float(c, "norm_coefficient_post", 0);
	lb_tensor *step = lb_astype(c->in[1], LB_F32), *one = lb_scalar(1);
	/* at step 0 nothing is corrected */
	lb_tensor *corrected = lb_divide(lb_sqrt(lb_subtract(one, lb_power(lb_scalar(beta), step))),
					 lb_subtract(one, lb_power(lb_scalar(alpha), step)));
	lb_tensor *rate = lb_where(lb_greater(step, lb_scalar(0)), lb_multiply(c->in[0], corrected), c->in[0]);
	for (int i = 0; i < n; i++) {
		lb_tensor *x = c->in[2 + i], *g = regularised(c, x, c->in[2 + n + i]);
		lb_tensor *v = lb_add(times(c->in[2 + 2 * n + i], alpha), times(g, 1 - alpha));
		lb_tensor *h = lb_add(times(c->in[2 + 3 * n + i], beta), times(lb_square(g), 1 - beta));
		lb_tensor *moved = lb_subtract(x, lb_divide(lb_multiply(rate, v), lb_add(lb_sqrt(h), lb_scalar(eps))));
		c->out[i] = times(moved, 1 - after);
		c->out[n + i] = v;
		c->out[2 * n + i] = h;
	}
	return c->out[0];
}

static lb_tensor *momentum(struct onnx_call *c)
{
	int n = (c->node->n_in - 2) / 3;
	double alpha = onnx_float(c, "alpha", 0), beta = onnx_float(c, "beta", 0);
	bool nesterov = strcmp(onnx_text(c, "mode", "standard"), "nesterov") == 0;
	lb_tensor *first = lb_equal(c->in[1], lb_scalar_int(0)),
		  *share = lb_where(first, lb_scalar(1), lb_scalar(beta));
	for (int i = 0; i < n; i++) {
		lb_tensor *x = c->in[2 + i], *g = regularised(c, x, c->in[2 + n + i]);
		lb_tensor *v = lb_add(times(c->in[2 + 2 * n + i], alpha), lb_multiply(g, share));
		c->out[i] = lb_subtract(x, lb_multiply(c->in[0], nesterov ? lb_add(g, times(v, alpha)) : v));
		c->out[n + i] = v;
	}
	return c->out[0];
}

const struct onnx_op onnx_training[] = {
	{ "Adagrad", .run = adagrad },
	{ "Adam", .run = adam },
	{ "Momentum", .run = momentum },
	{ .name = NULL },
};
