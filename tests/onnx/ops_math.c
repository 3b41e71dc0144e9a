/* Elementwise operators. */
#include <math.h>
#include <string.h>

#include "ops.h"

static lb_tensor *number(double value)
{
	return lb_scalar(value);
}

static lb_tensor *identity(lb_tensor *x)
{
	return x;
}

static bool is_integer(lb_tensor *x)
{
	return lb_dtype_of(x) >= LB_U8 && lb_dtype_of(x) <= LB_I64;
}

/* Integers: the quotient towards zero. */
static lb_tensor *divide(lb_tensor *a, lb_tensor *b)
{
	if (!is_integer(a))
		return lb_divide(a, b);
	return lb_astype(lb_divide(lb_astype(a, LB_F64), lb_astype(b, LB_F64)), lb_dtype_of(a));
}

/* The result has the type of the base. */
static lb_tensor *power(lb_tensor *a, lb_tensor *b)
{
	return lb_astype(lb_power(a, b), lb_dtype_of(a));
}

static lb_tensor *mod(struct onnx_call *c)
{
	lb_tensor *a = c->in[0], *b = c->in[1];
	if (!onnx_int(c, "fmod", 0))
		return lb_remainder(a, b);
	lb_tensor *size = lb_remainder(lb_abs(a), lb_abs(b));
	return lb_where(lb_less(a, lb_scalar_int(0)), lb_negative(size), size);
}

static lb_tensor *fold(struct onnx_call *c, lb_tensor *(*join)(lb_tensor *, lb_tensor *))
{
	lb_tensor *y = c->in[0];
	for (int i = 1; i < c->node->n_in; i++)
		y = join(y, c->in[i]);
	return y;
}

static lb_tensor *n_max(struct onnx_call *c)
{
	return fold(c, lb_maximum);
}
static lb_tensor *n_min(struct onnx_call *c)
{
	return fold(c, lb_minimum);
}
static lb_tensor *n_sum(struct onnx_call *c)
{
	return fold(c, lb_add);
}

static lb_tensor *n_mean(struct onnx_call *c)
{
	return lb_divide(fold(c, lb_add), number(c->node->n_in));
}

static lb_tensor *clip(struct onnx_call *c)
{
	return c->in[1] || c->in[2] ? lb_clip(c->in[0], c->in[1], c->in[2]) : c->in[0];
}

static lb_tensor *where(struct onnx_call *c)
{
	return lb_where(c->in[0], c->in[1], c->in[2]);
}

static lb_tensor *is_inf(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *y = lb_isinf(x);
	if (!onnx_int(c, "detect_positive", 1))
		y = lb_logical_and(y, lb_less(x, number(0)));
	if (!onnx_int(c, "detect_negative", 1))
		y = lb_logical_and(y, lb_greater(x, number(0)));
	return y;
}

static lb_tensor *cast(struct onnx_call *c)
{
	lb_dtype dtype;
	const char *name;
	if (!onnx_dtype(onnx_int(c, "to", 0), &dtype, &name))
		return onnx_refuse(c, "dtype %s", name);
	onnx_has(c, "saturate"); /* of floats in 8 bits, which are refused */
	return lb_astype(c->in[0], dtype);
}

static lb_tensor *cast_like(lb_tensor *x, lb_tensor *like)
{
	return lb_astype(x, lb_dtype_of(like));
}

static lb_tensor *bit_shift(struct onnx_call *c)
{
	bool left = strcmp(onnx_text(c, "direction", ""), "LEFT") == 0;
	return (left ? lb_left_shift : lb_right_shift)(c->in[0], c->in[1]);
}

/* ---- activations ---- */

static lb_tensor *relu(lb_tensor *x)
{
	return lb_maximum(x, lb_scalar_int(0));
}

static lb_tensor *prelu(lb_tensor *x, lb_tensor *slope)
{
	return lb_where(lb_less(x, number(0)), lb_multiply(x, slope), x);
}

static lb_tensor *leaky_relu(struct onnx_call *c)
{
	return prelu(c->in[0], number(onnx_float(c, "alpha", 0.01)));
}

static lb_tensor *thresholded_relu(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	return lb_where(lb_greater(x, number(onnx_float(c, "alpha", 1))), x, number(0));
}

/* scale * x, or scale * alpha * (exp(x / width) - 1) below 0 */
static lb_tensor *exponential(lb_tensor *x, double alpha, double width, double scale)
{
	lb_tensor *low = lb_subtract(lb_exp(lb_divide(x, number(width))), number(1));
	return lb_multiply(number(scale), lb_where(lb_less(x, number(0)), lb_multiply(number(alpha), low), x));
}

static lb_tensor *elu(struct onnx_call *c)
{
	return exponential(c->in[0], onnx_float(c, "alpha", 1), 1, 1);
}

static lb_tensor *celu(struct onnx_call *c)
{
	double alpha = onnx_float(c, "alpha", 1);
	return exponential(c->in[0], alpha, alpha, 1);
}

static lb_tensor *selu(struct onnx_call *c)
{
	return exponential(c->in[0], onnx_float(c, "alpha", 1.67326319217681884765625), 1,
			   onnx_float(c, "gamma", 1.05070102214813232421875));
}

static lb_tensor *line(lb_tensor *x, double alpha, double beta)
{
	lb_tensor *y = lb_add(lb_multiply(x, number(alpha)), number(beta));
	return lb_clip(y, number(0), number(1));
}

static lb_tensor *hard_sigmoid(struct onnx_call *c)
{
	return line(c->in[0], onnx_float(c, "alpha", 0.2), onnx_float(c, "beta", 0.5));
}

static lb_tensor *hard_swish(lb_tensor *x)
{
	return lb_multiply(x, line(x, 1 / 6.0, 0.5));
}

static lb_tensor *softplus(lb_tensor *x)
{
	return lb_log(lb_add(lb_exp(x), number(1)));
}

static lb_tensor *gelu(struct onnx_call *c)
{
	bool exact = strcmp(onnx_text(c, "approximate", "none"), "none") == 0;
	return exact ? lb_gelu(c->in[0]) : lb_gelu_tanh(c->in[0]);
}

static lb_tensor *mish(lb_tensor *x)
{
	return lb_multiply(x, lb_tanh(softplus(x)));
}

static lb_tensor *swish(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	return lb_multiply(x, lb_sigmoid(lb_multiply(x, number(onnx_float(c, "alpha", 1)))));
}

static lb_tensor *softsign(lb_tensor *x)
{
	return lb_divide(x, lb_add(number(1), lb_abs(x)));
}

static lb_tensor *shrink(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	double bias = onnx_float(c, "bias", 0), limit = onnx_float(c, "lambd", 0.5);
	lb_tensor *high = lb_where(lb_greater(x, number(limit)), lb_subtract(x, number(bias)), number(0));
	return lb_where(lb_less(x, number(-limit)), lb_add(x, number(bias)), high);
}

/* ---- numbers in few bits ---- */

/* The scale or zero point of one axis, laid along it; or those of its blocks, each over its own. */
static lb_tensor *along(struct onnx_call *c, lb_tensor *x)
{
	int64_t shape[LB_MAX_RANK], block = onnx_int(c, "block_size", 0);
	int rank = lb_rank(c->in[0]), axis = onnx_axis(onnx_int(c, "axis", 1), rank);
	if (lb_rank(x) == 0)
		return x;
	if (block) {
		lb_list copies = { rank + 1, shape };
		for (int k = 0; k <= rank; k++)
			shape[k] = k <= axis ? lb_dim(x, k) : k == axis + 1 ? block : lb_dim(x, k - 1);
		x = lb_broadcast_to(lb_expand_dims(x, LB_AXES(axis + 1)), copies);
		return onnx_part(lb_flatten(x, axis, axis + 1), axis, 0, lb_dim(c->in[0], axis));
	}
	for (int k = 0; k < rank; k++)
		shape[k] = k == axis ? lb_size(x) : 1;
	return lb_reshape(x, (lb_list){ rank, shape });
}

lb_tensor *onnx_quantize(lb_tensor *x, lb_tensor *scale, lb_tensor *zero)
{
	lb_tensor *y = lb_add(lb_round(lb_divide(x, scale)), lb_astype(zero, LB_F32));
	lb_dtype dtype = lb_dtype_of(zero);
	double values = pow(2, 8 * lb_dtype_bytes(dtype));
	double least = dtype == LB_I8 || dtype == LB_I16 ? -values / 2 : 0;
	return lb_astype(lb_clip(y, number(least), number(least + values - 1)), dtype);
}

static lb_tensor *quantize_linear(struct onnx_call *c)
{
	lb_dtype dtype = LB_U8;
	const char *name;
	if (onnx_int(c, "output_dtype", 0) && !onnx_dtype(onnx_int(c, "output_dtype", 0), &dtype, &name))
		return onnx_refuse(c, "dtype %s", name);
	onnx_has(c, "saturate"); /* of floats in 8 bits, which are refused */
	lb_tensor *zero = c->in[2] ? along(c, c->in[2]) : lb_zeros(LB_SHAPE(), dtype);
	return onnx_quantize(c->in[0], along(c, c->in[1]), zero);
}

static lb_tensor *dequantize_linear(struct onnx_call *c)
{
	lb_tensor *x = lb_astype(c->in[0], LB_I32);
	if (c->in[2])
		x = lb_subtract(x, lb_astype(along(c, c->in[2]), LB_I32));
	return lb_multiply(lb_astype(x, LB_F32), along(c, c->in[1]));
}

static lb_tensor *dynamic_quantize_linear(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	lb_tensor *low = lb_minimum(lb_min(x, LB_ALL_AXES, false), number(0));
	lb_tensor *high = lb_maximum(lb_max(x, LB_ALL_AXES, false), number(0));
	lb_tensor *scale = lb_divide(lb_subtract(high, low), number(255));
	lb_tensor *zero = lb_clip(lb_round(lb_divide(lb_negative(low), scale)), number(0), number(255));
	c->out[1] = scale;
	c->out[2] = lb_astype(zero, LB_U8);
	return onnx_quantize(x, scale, c->out[2]);
}

const struct onnx_op onnx_math[] = {
	{ "Abs", .unary = lb_abs },
	{ "Acos", .unary = lb_arccos },
	{ "Acosh", .unary = lb_arccosh },
	{ "Add", .binary = lb_add },
	{ "And", .binary = lb_logical_and },
	{ "Asin", .unary = lb_arcsin },
	{ "Asinh", .unary = lb_arcsinh },
	{ "Atan", .unary = lb_arctan },
	{ "Atanh", .unary = lb_arctanh },
	{ "BitShift", .run = bit_shift },
	{ "BitwiseAnd", .binary = lb_bitwise_and },
	{ "BitwiseNot", .unary = lb_bitwise_invert },
	{ "BitwiseOr", .binary = lb_bitwise_or },
	{ "BitwiseXor", .binary = lb_bitwise_xor },
	{ "Cast", .run = cast },
	{ "CastLike", .binary = cast_like },
	{ "Ceil", .unary = lb_ceil },
	{ "Celu", .run = celu },
	{ "Clip", .run = clip },
	{ "Cos", .unary = lb_cos },
	{ "Cosh", .unary = lb_cosh },
	{ "DequantizeLinear", .run = dequantize_linear },
	{ "Det", .unary = lb_det },
	{ "Div", .binary = divide },
	{ "DynamicQuantizeLinear", .run = dynamic_quantize_linear },
	{ "Elu", .run = elu },
	{ "Equal", .binary = lb_equal },
	{ "Erf", .unary = lb_erf },
	{ "Exp", .unary = lb_exp },
	{ "Floor", .unary = lb_floor },
	{ "Gelu", .run = gelu },
	{ "Greater", .binary = lb_greater },
	{ "GreaterOrEqual", .binary = lb_greater_equal },
	{ "HardSigmoid", .run = hard_sigmoid },
	{ "HardSwish", .unary = hard_swish },
	{ "Identity", .unary = identity },
	{ "IsInf", .run = is_inf },
	{ "IsNaN", .unary = lb_isnan },
	{ "LeakyRelu", .run = leaky_relu },
	{ "Less", .binary = lb_less },
	{ "LessOrEqual", .binary = lb_less_equal },
	{ "Log", .unary = lb_log },
	{ "Max", .run = n_max },
	{ "Mean", .run = n_mean },
	{ "Min", .run = n_min },
	{ "Mish", .unary = mish },
	{ "Mod", .run = mod },
	{ "Mul", .binary = lb_multiply },
	{ "Neg", .unary = lb_negative },
	{ "Not", .unary = lb_logical_not },
	{ "Or", .binary = lb_logical_or },
	{ "PRelu", .binary = prelu },
	{ "Pow", .binary = power },
	{ "QuantizeLinear", .run = quantize_linear },
	{ "Reciprocal", .unary = onnx_reciprocal },
	{ "Relu", .unary = relu },
	{ "Round", .unary = lb_round },
	{ "Selu", .run = selu },
	{ "Shrink", .run = shrink },
	{ "Sigmoid", .unary = lb_sigmoid },
	{ "Sign", .unary = lb_sign },
	{ "Sin", .unary = lb_sin },
	{ "Sinh", .unary = lb_sinh },
	{ "Softplus", .unary = softplus },
	{ "Softsign", .unary = softsign },
	{ "Sqrt", .unary = lb_sqrt },
	{ "Sub", .binary = lb_subtract },
	{ "Sum", .run = n_sum },
	{ "Swish", .run = swish },
	{ "Tan", .unary = lb_tan },
	{ "Tanh", .unary = lb_tanh },
	{ "ThresholdedRelu", .run = thresholded_relu },
	{ "Where", .run = where },
	{ "Xor", .binary = lb_not_equal },
	{ .name = NULL },
};
