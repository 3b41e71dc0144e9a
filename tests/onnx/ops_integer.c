/* Products and convolutions of integers, in i32, and of what stands for real numbers by a scale and a zero point. */
#include "windows.h"

/* x - zero, in i32; the zero points of an axis lie along that axis. */
static lb_tensor *centred(lb_tensor *x, lb_tensor *zero, int axis)
{
	int64_t shape[LB_MAX_RANK];
	int rank = lb_rank(x);
	x = lb_astype(x, LB_I32);
	if (!zero)
		return x;
	for (int k = 0; k < rank; k++)
		shape[k] = k == axis ? lb_size(zero) : 1;
	return lb_subtract(x, lb_astype(lb_reshape(zero, (lb_list){ rank, shape }), LB_I32));
}

static lb_tensor *product(lb_tensor *a, lb_tensor *b)
{
	return lb_sum(lb_multiply(lb_expand_dims(a, LB_AXES(-1)), lb_expand_dims(b, LB_AXES(-3))), LB_AXES(-2), false);
}

static lb_tensor *matmul_integer(struct onnx_call *c)
{
	lb_tensor *a = c->in[0], *b = c->in[1];
	return product(centred(a, c->in[2], lb_rank(a) - 2), centred(b, c->in[3], lb_rank(b) - 1));
}

/* The windows of x (batch, channels, …) by the weights (outputs, channels / group, …), group by group. */
static lb_tensor *convolution(struct onnx_call *c, lb_tensor *x, lb_tensor *weight)
{
	struct onnx_windows w;
	int64_t groups = onnx_int(c, "group", 1), each = lb_dim(weight, 0) / groups, taps = lb_dim(weight, 1);
	int64_t of_x[ONNX_MOST_SPATIAL + 1] = { 1 }, of_weight[ONNX_MOST_SPATIAL + 1] = { 1 };
	lb_tensor *y[ONNX_MOST_VALUES];
	if (!onnx_windows(c, lb_shape(weight) + 2, &w))
		return NULL;
	if (groups > ONNX_MOST_VALUES)
		return onnx_refuse(c, "%jd groups", (intmax_t)groups);
	for (int k = 0; k < w.n; k++) {
		of_x[k + 1] = 2 + w.n + k;
		of_weight[k + 1] = 2 + k;
	}
	for (int64_t g = 0; g < groups; g++) {
		lb_tensor *in = onnx_windows_view(onnx_part(x, 1, g * taps, (g + 1) * taps), &w, 0, 0);
		y[g] = lb_tensordot(in, onnx_part(weight, 0, g * each, (g + 1) * each), (lb_list){ w.n + 1, of_x },
				    (lb_list){ w.n + 1, of_weight });
	}
	return lb_moveaxis(lb_concatenate((int)groups, y, -1), -1, 1);
}

static lb_tensor *conv_integer(struct onnx_call *c)
{
	return convolution(c, centred(c->in[0], c->in[2], -1), centred(c->in[1], c->in[3], 0));
}

/* A scale or a zero point is of the whole tensor, which one of several is not. */
static bool single(struct onnx_call *c, int i)
{
	return lb_size(c->in[i]) == 1 || onnx_refuse(c, "%s of %jd scales", c->node->op, (intmax_t)lb_size(c->in[i]));
}

static lb_tensor *qlinear_matmul(struct onnx_call *c)
{
	for (int i = 1; i < 8; i++)
		if (i != 3 && !single(c, i))
			return NULL;
	lb_tensor *y = product(centred(c->in[0], c->in[2], -1), centred(c->in[3], c->in[5], -1));
	return onnx_quantize(lb_multiply(lb_astype(y, LB_F32), lb_multiply(c->in[1], c->in[4])), c->in[6], c->in[7]);
}

/* Each output has a scale of its weights and a zero point of its own, or all have the same. */
static lb_tensor *qlinear_conv(struct onnx_call *c)
{
	if (!single(c, 1) || !single(c, 2) || !single(c, 6) || !single(c, 7))
		return NULL;
	int rank = lb_rank(c->in[0]);
	lb_tensor *y = convolution(c, centred(c->in[0], c->in[2], -1), centred(c->in[3], c->in[5], 0));
	if (y && c->in[8])
		y = lb_add(y, onnx_channels(c->in[8], rank));
	y = lb_multiply(lb_astype(y, LB_F32), lb_multiply(c->in[1], onnx_channels(c->in[4], rank)));
	return onnx_quantize(y, c->in[6], c->in[7]);
}

const struct onnx_op onnx_integer[] = {
	{ "ConvInteger", .run = conv_integer },
	{ "MatMulInteger", .run = matmul_integer },
	{ "QLinearConv", .run = qlinear_conv },
	{ "QLinearMatMul", .run = qlinear_matmul },
	{ .name = NULL },
};
