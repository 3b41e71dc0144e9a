#include "ops/conv.h"

#include "base/plural.h"
#include "graph/promote.h"
#include "graph/shape.h"
#include "kernels/model.h"
#include "ops/conv_axis.h"
#include "ops/operation.h"

/* Puts defaults into the options, and finds the result's shape. x and w have four axes. */
static bool plan_conv(const char *op, lb_list x, lb_list w, lb_conv_options *o, int64_t *shape)
{
	shape[0] = x.v[0];
	shape[3] = w.v[0];
	o->groups = o->groups ? o->groups : 1;
	for (int i = 0; i < 2; i++) {
		if (!lb_conv_steps(op, x, w, &o->stride[i], &o->dilation[i], o->padding[i]))
			return false;
	}
	if (o->groups < 1 || x.v[3] % o->groups || w.v[0] % o->groups)
		return lb_conv_fail(op, x, w, "groups must divide the channels of x and the outputs of weight");
	if (w.v[3] != x.v[3] / o->groups)
		return lb_conv_fail(op, x, w, "the last axis of weight must be the channels of x, divided by groups");
	for (int i = 0; i < 2; i++) {
		if (!lb_conv_slide(op, x, w, 1 + i, o->stride[i], o->dilation[i], o->padding[i], &shape[1 + i]))
			return false;
	}
	return true;
}

/* params: see lb_conv_options_of() */
static struct lb_tensor *conv_node(int op, const char *name, const int64_t *shape, struct lb_tensor *a,
				   struct lb_tensor *b, const lb_conv_options *o, const void *site)
{
	struct lb_tensor *xs[2] = { a, b };
	enum lb_dtype dtype;
	if (!lb_common_float(name, 2, xs, &dtype, site))
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(op, dtype, 4, shape, 2, xs, site);
	if (t) {
		t->params[0] = lb_conv_pair(o->stride[0], o->stride[1]);
		t->params[1] = lb_conv_pair(o->padding[0], o->padding[1]);
		t->params[2] = lb_conv_pair(o->dilation[0], o->dilation[1]);
		t->params[3] = o->groups;
	}
	return lb_tensor_publish(t);
}

static struct lb_tensor *conv(const char *op, struct lb_tensor *x, struct lb_tensor *w, lb_conv_options o,
			      const void *site)
{
	int64_t shape[4];
	if (!plan_conv(op, lb_shape_of(x), lb_shape_of(w), &o, shape))
		return NULL;
	return conv_node(LB_OP_CONV2D, op, shape, x, w, &o, site);
}

lb_tensor *lb_conv2d(lb_tensor *x, lb_tensor *weight, lb_conv_options options)
{
	LB_ENTER();
	if (!LB_GIVEN("conv2d", x) || !LB_GIVEN("conv2d", weight))
		return NULL;
	if (x->rank != 4 || weight->rank != 4) {
		lb_conv_fail("conv2d", lb_shape_of(x), lb_shape_of(weight),
			     x->rank == 3 && weight->rank == 4
				 ? "the batch axis of x is missing, of (batch, rows, columns, channels): "
				   "lb_expand_dims(x, LB_AXES(0)) adds one"
				 : "both must have four axes: (batch, rows, columns, "
				   "channels) and (outputs, rows, columns, channels)");
		return NULL;
	}
	return conv("conv2d", x, weight, options, site);
}

/* The gradient of one of x and w, of their shapes, when grad has the shape of their result; `other` is the other one. */
static struct lb_tensor *conv_gradient(int op, lb_list x, lb_list w, struct lb_tensor *other, struct lb_tensor *grad,
				       lb_conv_options o, const void *site)
{
	const char *name = lb_ops[op].name;
	const lb_list shape = op == LB_OP_CONV2D_INPUT_GRAD ? x : w;
	int64_t result[4], size;
	if (x.n == 4 && w.n == 4 && x.v && w.v && !lb_check_shape(name, 4, shape.v, LB_F64, &size))
		return NULL;
	if (x.n != 4 || w.n != 4 || !x.v || !w.v) {
		lb_fail("%s: x and weight must have four axes, not %d and %d", name, x.n, w.n);
		return NULL;
	}
	if (!plan_conv(name, x, w, &o, result))
		return NULL;
	if (!lb_same_shape(4, result, grad->rank, grad->shape)) {
		char tg[LB_SHAPE_TEXT], tr[LB_SHAPE_TEXT];
		lb_fail("%s: grad %s must have the shape of the result, %s", name,
			lb_shape_text(grad->rank, grad->shape, tg), lb_shape_text(4, result, tr));
		return NULL;
	}
	return conv_node(op, name, shape.v, other, grad, &o, site);
}

lb_tensor *lb_conv2d_input_grad(lb_list x_shape, lb_tensor *weight, lb_tensor *grad, lb_conv_options options)
{
	LB_ENTER();
	if (!LB_GIVEN("conv2d_input_grad", weight) || !LB_GIVEN("conv2d_input_grad", grad))
		return NULL;
	return conv_gradient(LB_OP_CONV2D_INPUT_GRAD, x_shape, lb_shape_of(weight), weight, grad, options, site);
}

lb_tensor *lb_conv2d_weight_grad(lb_tensor *x, lb_list weight_shape, lb_tensor *grad, lb_conv_options options)
{
	LB_ENTER();
	if (!LB_GIVEN("conv2d_weight_grad", x) || !LB_GIVEN("conv2d_weight_grad", grad))
		return NULL;
	return conv_gradient(LB_OP_CONV2D_WEIGHT_GRAD, lb_shape_of(x), weight_shape, x, grad, options, site);
}

/* t, made by a public function on behalf of the caller at site. */
static struct lb_tensor *of_site(struct lb_tensor *t, const void *site)
{
	lb_fail_site(site);
	if (t)
		t->site = (uint64_t)(uintptr_t)site;
	return t;
}

lb_tensor *lb_conv1d(lb_tensor *x, lb_tensor *weight, lb_conv_options options)
{
	LB_ENTER();
	if (!LB_GIVEN("conv1d", x) || !LB_GIVEN("conv1d", weight))
		return NULL;
	if (x->rank != 3 || weight->rank != 3) {
		lb_conv_fail("conv1d", lb_shape_of(x), lb_shape_of(weight),
			     x->rank == 2 && weight->rank == 3
				 ? "the batch axis of x is missing, of (batch, length, channels): "
				   "lb_expand_dims(x, LB_AXES(0)) adds one"
				 : "both must have three axes: (batch, length, "
				   "channels) and (outputs, length, channels)");
		return NULL;
	}
	options.stride[1] = options.dilation[1] = 1;
	options.padding[1] = 0;
	x = of_site(lb_expand_dims(x, LB_AXES(2)), site);
	weight = of_site(lb_expand_dims(weight, LB_AXES(2)), site);
	if (!x || !weight)
		return NULL;
	struct lb_tensor *t = conv("conv1d", x, weight, options, site);
	return t ? of_site(lb_squeeze(t, LB_AXES(2)), site) : NULL;
}

/* params: what comes before each axis, in pairs */
lb_tensor *lb_pad(lb_tensor *x, lb_list low, lb_list high, double value)
{
	LB_ENTER();
	if (!LB_GIVEN("pad", x))
		return NULL;
	char text[LB_SHAPE_TEXT];
	lb_shape_text(x->rank, x->shape, text);
	int64_t shape[LB_MAX_RANK], before[LB_MAX_RANK] = { 0 };
	if ((low.n && (low.n != x->rank || !low.v)) || (high.n && (high.n != x->rank || !high.v))) {
		lb_fail("pad: %d sizes before and %d after for x %s: one an axis, or none, is needed", low.n, high.n,
			text);
		return NULL;
	}
	for (int i = 0; i < x->rank; i++) {
		int64_t after = high.n ? high.v[i] : 0;
		before[i] = low.n ? low.v[i] : 0;
		if (before[i] < 0 || before[i] > INT32_MAX || after < 0 ||
		    !lb_sum_of(x->shape[i], before[i], &shape[i]) || !lb_sum_of(shape[i], after, &shape[i])) {
			lb_fail("pad: %lld element%s before and %lld after axis %d of %s: neither may be negative or "
				"too large",
				(long long)before[i], LB_S(before[i]), (long long)after, i, text);
			return NULL;
		}
	}
	struct lb_tensor *fill = lb_tensor_begin(LB_OP_FULL, (enum lb_dtype)x->dtype, 0, NULL, 0, NULL, site);
	if (!fill)
		return NULL;
	lb_param_set_double(fill, 0, value);
	lb_tensor_publish(fill);
	struct lb_tensor *t = lb_tensor_begin(LB_OP_PAD, (enum lb_dtype)x->dtype, x->rank, shape, 2,
					      (struct lb_tensor *[]){ x, fill }, site);
	if (t) {
		for (int i = 0; i < LB_PARAMS; i++)
			t->params[i] = lb_conv_pair(before[2 * i], before[2 * i + 1]);
	}
	return lb_tensor_publish(t);
}

/* ---- made anew, and computed ---- */

struct lb_tensor *lb_remake_conv(const struct lb_recipe *r)
{
	lb_conv_options o = lb_conv_options_of(r->params);
	switch (r->op) {
	case LB_OP_CONV2D_INPUT_GRAD: return lb_conv2d_input_grad(r->shape, r->x[0], r->x[1], o);
	case LB_OP_CONV2D_WEIGHT_GRAD: return lb_conv2d_weight_grad(r->x[0], r->shape, r->x[1], o);
	default: return lb_conv2d(r->x[0], r->x[1], o);
	}
}

/* A convolution of x and w, the result's rows and columns being those of `out`. */
static struct lb_conv conv_of(const struct lb_tensor *t, const struct lb_view *x, const struct lb_view *w,
			      const struct lb_view *out)
{
	struct lb_conv c = { .x = *x, .w = *w, .groups = t->params[3] };
	for (int i = 0; i < 2; i++) {
		c.out[i] = out->shape[1 + i];
		c.stride[i] = lb_conv_param(t->params[0], i);
		c.padding[i] = lb_conv_param(t->params[1], i);
		c.dilation[i] = lb_conv_param(t->params[2], i);
	}
	return c;
}

bool lb_compute_conv(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view first = lb_view_of_input(t, 0), second = lb_view_of_input(t, 1), result = lb_view_of(t);
	struct lb_conv c;
	switch (t->op) {
	case LB_OP_CONV2D_INPUT_GRAD:
		c = conv_of(t, &result, &first, &second);
		return lb_kernel_conv2d_input_grad(exec, &c, &second, result.data);
	case LB_OP_CONV2D_WEIGHT_GRAD:
		c = conv_of(t, &first, &result, &second);
		return lb_kernel_conv2d_weight_grad(exec, &c, &second, result.data);
	default: c = conv_of(t, &first, &second, &result); return lb_kernel_conv2d(exec, &c, result.data);
	}
}

/* Its shape is not in the parameters: what comes after each axis is what is left. */
struct lb_tensor *lb_remake_pad(const struct lb_recipe *r)
{
	const struct lb_tensor *x = r->x[0], *value = r->x[1];
	bool fits = r->shape.n == x->rank && value->rank == 0 && x->dtype == r->dtype && value->dtype == r->dtype;
	for (int i = 0; fits && i < x->rank; i++) {
		int64_t low = lb_conv_param(r->params[i / 2], i % 2);
		fits = r->shape.v[i] >= x->shape[i] && r->shape.v[i] - x->shape[i] >= low;
	}
	return fits ? lb_remake_as_is(r) : lb_senseless(r);
}

/* The value everywhere, then x where it belongs. */
bool lb_compute_pad(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0), value = lb_view_of_input(t, 1), to = lb_view_of(t);
	if (!lb_kernel_fill(exec, to.data, to.dtype, t->size, value.data))
		return false;
	for (int i = 0; i < t->rank; i++) {
		to.shape[i] = x.shape[i];
		to.data = (char *)to.data +
			  lb_conv_param(t->params[i / 2], i % 2) * to.strides[i] * lb_dtypes[to.dtype].bytes;
	}
	return lb_kernel_copy(exec, &to, &x);
}
