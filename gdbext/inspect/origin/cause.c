#include "inspect/origin/cause.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The largest finite value. */
static double largest(enum lb_dtype dtype)
{
	return dtype == LB_F16    ? 65504
	       : dtype == LB_BF16 ? 0x1.fep127
	       : dtype == LB_F64  ? 0x1.fffffffffffffp1023
				  : 0x1.fffffep127;
}

/* Names of others for operations that are the same. */
static const char *const also[][2] = {
	{ "sub", "subtract" },
	{ "mul", "multiply" },
	{ "div", "divide" },
	{ "mul_mat", "matmul" },
	{ "soft_max", "softmax" },
	{ "norm", "layer_norm" },
	{ "sum_rows", "sum" },
	{ "reduce", "sum" },
	{ "scan", "cumsum" },
	{ "quantizedmatmul", "quantized_matmul" },
	{ "convolution", "conv2d" },
	{ "gathermm", "matmul" },
	{ "gatherqmm", "quantized_matmul" },
};

static bool is(const struct lbx_cause *c, const char *op)
{
	if (strcasecmp(c->op, op) == 0)
		return true;
	for (size_t i = 0; i < sizeof also / sizeof *also; i++)
		if (strcmp(op, also[i][1]) == 0 && strcasecmp(c->op, also[i][0]) == 0)
			return true;
	return false;
}

static bool among(const struct lbx_cause *c, const char *const *ops)
{
	for (; *ops; ops++)
		if (is(c, *ops))
			return true;
	return false;
}

/* Inf that met another operand. */
static const char *of_inf(const struct lbx_cause *c)
{
	if (is(c, "add") || is(c, "subtract"))
		return "Inf - Inf has no value; look at where the infinities come from";
	if (is(c, "multiply"))
		return "0 * Inf has no value; look at where the Inf comes from";
	if (is(c, "divide"))
		return "Inf / Inf has no value; scale down, or subtract the maximum before exp()";
	return c->nan ? "the operation has no value at Inf; look at where the Inf comes from" : "";
}

static const char *of_operands(const struct lbx_cause *c, double a, double b)
{
	if (is(c, "divide") && b == 0)
		return a == 0 ? "0 / 0 has no value; add a small number to the divisor, or choose with "
				"where() after making the divisor safe"
			      : "a division by 0; add a small number to the divisor";
	if (is(c, "remainder") && b == 0)
		return "a remainder of a division by 0";
	if (is(c, "log"))
		return a == 0  ? "log(0); add a small number first, or use log_softmax (x - logsumexp(x))"
		       : a < 0 ? "log of a negative number; clip it first"
			       : "";
	if (is(c, "sqrt") || is(c, "rsqrt"))
		return a < 0    ? "the root of a negative number; where rounding made a small one negative, clip "
				  "it to 0 first"
		       : a == 0 ? "1 / sqrt(0); add a small number inside the root"
				: "";
	if (is(c, "power") && a < 0)
		return "a fractional power of a negative number; take abs() first";
	if (is(c, "power") && a == 0)
		return "a negative power of 0; add a small number to the base";
	return "";
}

static const char *overflow(const struct lbx_cause *c, char *ret, size_t size)
{
	const char *name = lbx_dtype_name(c->dtype);
	double most = largest(c->dtype);
	const char *instead =
	    c->dtype == LB_F16 ? "compute it in bfloat16 or float32, or scale down first" : "scale down first";

	if (is(c, "exp"))
		snprintf(ret, size,
			 "an overflow: exp() overflows %s above %.4g; subtract the maximum "
			 "first, as softmax and logsumexp do",
			 name, log(most));
	else if (is(c, "astype"))
		snprintf(ret, size,
			 "an overflow: the value is beyond the largest %s, %.5g; use a dtype of "
			 "more range (bfloat16, float32), or scale down first",
			 name, most);
	else
		snprintf(ret, size, "an overflow: the result is beyond the largest %s, %.5g; %s", name, most, instead);
	return ret;
}

const char *lbx_cause_text(const struct lbx_cause *c, char *ret, size_t size)
{
	static const char *const sums[] = {
		"sum",         "mean",      "prod",      "var",        "matmul",   "addmm",      "quantized_matmul",
		"cumsum",      "conv2d",    "attention", "layer_norm", "rms_norm", "dequantize", "scatter_add",
		"strided_add", "slice_add", NULL,
	};
	bool operand_inf = false;
	const char *text = "";

	for (int i = 0; i < c->n_operands; i++)
		operand_inf |= isinf(c->operands[i]) != 0;
	if (c->n_operands && operand_inf)
		text = of_inf(c);
	else if (c->n_operands)
		text = of_operands(c, c->operands[0], c->operands[1]);
	else if (is(c, "softmax") && c->negative_inf)
		text = "a row of -Inf throughout: all of it is masked; leave one place open, or mask with a "
		       "large finite number";
	else if ((is(c, "softmax") || is(c, "logsumexp")) && c->inf)
		text = "exp(Inf - Inf); look at where the Inf comes from";
	else if (c->empty)
		text = "an operation over no elements";
	else if (c->inf && c->nan && among(c, sums))
		text = "an Inf met a 0 or an opposite Inf among the terms; look at where it comes from";
	else if (c->inf)
		text = "";
	else if (c->nan && among(c, sums))
		text = "partial sums that overflow both ways, or a division by a variance or count of 0; "
		       "compute it in float32, or scale down first";
	if (!*text && !c->nan && !operand_inf && !c->inf && (c->n_operands || among(c, sums)))
		return overflow(c, ret, size);
	snprintf(ret, size, "%s", text);
	return ret;
}
