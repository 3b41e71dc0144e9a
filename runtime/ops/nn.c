/* Layers' small functions, written with elementwise nodes, so that they fuse with their
 * neighbours. Halves are cast to float, and back at the end: one rounding. */
#include "graph/promote.h"
#include "graph/shape.h"

/* A node in a's shape; b is NULL, a scalar constant, or of that shape too. */
static struct lb_tensor *nn_node(int op, struct lb_tensor *a, struct lb_tensor *b, const void *site)
{
	if (!a)
		return NULL;
	return lb_node(op, (enum lb_dtype)a->dtype, a->rank, a->shape, b ? 2 : 1, (struct lb_tensor *[]){ a, b }, site);
}

/* op(a, value) */
static struct lb_tensor *with(int op, struct lb_tensor *a, double value, const void *site)
{
	if (!a)
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(LB_OP_FULL, (enum lb_dtype)a->dtype, 0, NULL, 0, NULL, site);
	if (!t)
		return NULL;
	lb_param_set_double(t, 0, value);
	return nn_node(op, a, lb_tensor_publish(t), site);
}

static struct lb_tensor *product_node(struct lb_tensor *a, struct lb_tensor *b, const void *site)
{
	return a && b ? nn_node(LB_OP_MULTIPLY, a, b, site) : NULL;
}

/* x in the dtype that it is computed in; *ret is the result's. */
static struct lb_tensor *widened(const char *op, struct lb_tensor *x, enum lb_dtype *ret, const void *site)
{
	if (!LB_GIVEN(op, x))
		return NULL;
	if (x->dtype == LB_C64) {
		lb_fail("%s: not defined for complex64", op);
		return NULL;
	}
	*ret = lb_inexact((enum lb_dtype)x->dtype);
	return lb_as(x, *ret == LB_F64 ? LB_F64 : LB_F32, site);
}

static struct lb_tensor *narrowed(struct lb_tensor *x, enum lb_dtype dtype, const void *site)
{
	return x ? lb_as(x, dtype, site) : NULL;
}

lb_tensor *lb_silu(lb_tensor *x)
{
	LB_ENTER();
	enum lb_dtype dtype = LB_F32;
	x = widened("silu", x, &dtype, site);
	return narrowed(product_node(x, nn_node(LB_OP_SIGMOID, x, NULL, site), site), dtype, site);
}

lb_tensor *lb_gelu(lb_tensor *x)
{
	LB_ENTER();
	enum lb_dtype dtype = LB_F32;
	x = widened("gelu", x, &dtype, site);
	struct lb_tensor *t = with(LB_OP_MULTIPLY, x, 0.70710678118654752440, site); /* 1 / sqrt(2) */
	t = with(LB_OP_ADD, nn_node(LB_OP_ERF, t, NULL, site), 1, site);
	t = product_node(with(LB_OP_MULTIPLY, x, 0.5, site), t, site);
	return narrowed(t, dtype, site);
}

lb_tensor *lb_gelu_tanh(lb_tensor *x)
{
	LB_ENTER();
	enum lb_dtype dtype = LB_F32;
	x = widened("gelu_tanh", x, &dtype, site);
	/* sqrt(2 / pi) * (x + 0.044715 x^3): Hendrycks and Gimpel, "Gaussian error linear units" */
	/* tanh is 1 from there on, and nothing overflows, in the gradient either */
	enum { FAR = 10 };
	struct lb_tensor *near = with(LB_OP_MINIMUM, with(LB_OP_MAXIMUM, x, -FAR, site), FAR, site);
	struct lb_tensor *t = with(LB_OP_MULTIPLY, nn_node(LB_OP_SQUARE, near, NULL, site), 0.044715, site);
	t = product_node(with(LB_OP_ADD, t, 1, site), near, site);
	t = nn_node(LB_OP_TANH, with(LB_OP_MULTIPLY, t, 0.79788456080286535588, site), NULL, site);
	t = product_node(with(LB_OP_MULTIPLY, x, 0.5, site), with(LB_OP_ADD, t, 1, site), site);
	return narrowed(t, dtype, site);
}

lb_tensor *lb_one_hot(lb_tensor *indices, int64_t n, lb_dtype dtype)
{
	LB_ENTER_WHOLE();
	const void *site = lb_fail_site_now();
	if (!LB_GIVEN("one_hot", indices))
		return NULL;
	char text[LB_SHAPE_TEXT];
	int64_t size;
	if (indices->dtype < LB_U8 || indices->dtype > LB_I64) {
		lb_fail("one_hot: indices must be integers, not %s", lb_dtypes[indices->dtype].name);
		return NULL;
	}
	if ((unsigned)dtype >= LB_DTYPES) {
		lb_fail("one_hot: %d is not a dtype", (int)dtype);
		return NULL;
	}
	if (n < 0 || indices->rank == LB_MAX_RANK) {
		lb_fail(
		    "one_hot: %lld classes for indices %s: there must be 0 or more, and at most %d axes in the result",
		    (long long)n, lb_shape_text(indices->rank, indices->shape, text), LB_MAX_RANK);
		return NULL;
	}
	int64_t shape[LB_MAX_RANK];
	for (int i = 0; i < indices->rank; i++)
		shape[i] = indices->shape[i];
	shape[indices->rank] = n;
	if (!lb_check_shape("one_hot", indices->rank + 1, shape, dtype, &size) ||
	    !lb_check_shape("one_hot", 1, &n, LB_U64, &size))
		return NULL;
	enum lb_dtype count = lb_dtype_is_signed_int(indices->dtype) ? LB_I64 : LB_U64;
	struct lb_tensor *classes = lb_tensor_begin(LB_OP_ARANGE, count, 1, &n, 0, NULL, site);
	if (!classes)
		return NULL;
	lb_param_set_double(classes, 1, 1);
	classes = lb_tensor_publish(classes);
	struct lb_tensor *column = lb_expand_dims(lb_as(indices, count, site), LB_AXES(-1));
	if (!column)
		return NULL;
	struct lb_tensor *hits =
	    lb_node(LB_OP_EQUAL, LB_BOOL, column->rank, shape, 2, (struct lb_tensor *[]){ column, classes }, site);
	return narrowed(hits, dtype, site);
}

lb_tensor *lb_cross_entropy(lb_tensor *logits, lb_tensor *targets)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("cross_entropy", logits) || !LB_GIVEN("cross_entropy", targets) ||
	    !lb_check_indices("cross_entropy", targets))
		return NULL;
	char of_logits[LB_SHAPE_TEXT], of_targets[LB_SHAPE_TEXT];
	if (!lb_dtype_is_float(logits->dtype)) {
		lb_fail("cross_entropy: logits are floating, not %s", lb_dtypes[logits->dtype].name);
		return NULL;
	}
	if (logits->rank == 0 || !lb_same_shape(logits->rank - 1, logits->shape, targets->rank, targets->shape)) {
		lb_fail("cross_entropy: targets %s must have the axes of logits %s but the last",
			lb_shape_text(targets->rank, targets->shape, of_targets),
			lb_shape_text(logits->rank, logits->shape, of_logits));
		return NULL;
	}
	struct lb_tensor *x = lb_astype(logits, logits->dtype == LB_F64 ? LB_F64 : LB_F32);
	struct lb_tensor *hit = lb_take_along_axis(x, lb_expand_dims(targets, LB_AXES(-1)), -1);
	return hit ? lb_subtract(lb_logsumexp(x, LB_AXES(-1), false), lb_squeeze(hit, LB_AXES(-1))) : NULL;
}
