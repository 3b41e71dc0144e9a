/* Losses, and other compositions of several operations. */
#include <string.h>

#include "ops.h"

/* Minus the log-probability (axis 1 of x) of each target class, weighed. */
static lb_tensor *nll(struct onnx_call *c, lb_tensor *x, lb_tensor *target, lb_tensor *weight)
{
	const char *reduction = onnx_text(c, "reduction", "mean");
	lb_tensor *classes = target, *w = lb_ones(LB_SHAPE(), lb_dtype_of(x));
	lb_tensor *ignored = NULL;
	if (onnx_has(c, "ignore_index")) {
		ignored = lb_equal(target, lb_scalar_int(onnx_int(c, "ignore_index", 0)));
		classes = lb_where(ignored, lb_scalar_int(0), target);
	}
	lb_tensor *at = lb_expand_dims(classes, LB_AXES(1));
	lb_tensor *picked = lb_squeeze(lb_take_along_axis(x, at, 1), LB_AXES(1));
	w = weight ? lb_take(weight, classes, 0) : lb_broadcast_to(w, (lb_list){ lb_rank(classes), lb_shape(classes) });
	if (ignored)
		w = lb_where(ignored, lb_scalar(0), w);
	lb_tensor *loss = lb_negative(lb_multiply(picked, w));
	if (strcmp(reduction, "none") == 0)
		return loss;
	lb_tensor *sum = lb_sum(loss, LB_ALL_AXES, false);
	return strcmp(reduction, "sum") == 0 ? sum : lb_divide(sum, lb_sum(w, LB_ALL_AXES, false));
}

static lb_tensor *nll_loss(struct onnx_call *c)
{
	return nll(c, c->in[0], c->in[1], c->in[2]);
}

static lb_tensor *softmax_cross_entropy(struct onnx_call *c)
{
	c->out[1] = onnx_log_softmax(c->in[0], 1);
	return nll(c, c->out[1], c->in[1], c->in[2]);
}

static lb_tensor *dropout(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	double ratio = c->in[1] ? lb_item(c->in[1]) : onnx_float(c, "ratio", 0.5);
	onnx_int(c, "seed", 0);
	if (c->in[2] && lb_item(c->in[2]) != 0 && ratio != 0)
		return onnx_refuse(c, "random numbers");
	c->out[1] = lb_ones((lb_list){ lb_rank(x), lb_shape(x) }, LB_BOOL);
	return x;
}

const struct onnx_op onnx_loss[] = {
	{ "Dropout", .run = dropout },
	{ "NegativeLogLikelihoodLoss", .run = nll_loss },
	{ "SoftmaxCrossEntropyLoss", .run = softmax_cross_entropy },
	{ .name = NULL },
};
