/* Convolutions that are made of those of two axes. Halves are computed in float, and rounded once. */
#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/conv_axis.h"

/* ---- of three axes: a sum over the taps along the first ---- */

/* Both are brought to the dtype that the sum is computed in; gives that of the result. */
static bool widen(const char *name, struct lb_tensor **x, struct lb_tensor **w, enum lb_dtype *ret)
{
	struct lb_tensor *xs[2] = { *x, *w };
	if (!lb_common_float(name, 2, xs, ret, lb_fail_site_now()))
		return false;
	bool is_half = *ret == LB_F16 || *ret == LB_BF16;
	*x = is_half ? lb_astype(xs[0], LB_F32) : xs[0];
	*w = is_half ? lb_astype(xs[1], LB_F32) : xs[1];
	return *x && *w;
}

lb_tensor *lb_conv3d(lb_tensor *x, lb_tensor *weight, lb_conv3d_options o)
{
	LB_ENTER_WHOLE();
	const char *const name = "conv3d";
	if (!LB_GIVEN(name, x) || !LB_GIVEN(name, weight))
		return NULL;
	if (x->rank != 5 || weight->rank != 5) {
		lb_conv_fail(name, lb_shape_of(x), lb_shape_of(weight),
			     "both must have five axes: (batch, depth, rows, columns, channels) and (outputs, depth, "
			     "rows, columns, channels)");
		return NULL;
	}
	const lb_list xs = lb_shape_of(x), ws = lb_shape_of(weight);
	int64_t sizes[3];
	for (int i = 0; i < 3; i++)
		if (!lb_conv_steps(name, xs, ws, &o.stride[i], &o.dilation[i], o.padding[i]) ||
		    !lb_conv_slide(name, xs, ws, 1 + i, o.stride[i], o.dilation[i], o.padding[i], &sizes[i]))
			return NULL;
	int64_t stride = o.stride[0], dilation = o.dilation[0], padding = o.padding[0], taps = weight->shape[1];
	int64_t depth = sizes[0], batch = x->shape[0];
	enum lb_dtype dtype;
	lb_conv_options flat = {
		{ o.stride[1], o.stride[2] }, { o.padding[1], o.padding[2] }, { o.dilation[1], o.dilation[2] }, o.groups
	};
	if (!widen(name, &x, &weight, &dtype))
		return NULL;
	struct lb_tensor *wide = lb_pad(x, LB_SHAPE(0, padding, 0, 0, 0), LB_SHAPE(0, padding, 0, 0, 0), 0),
			 *sum = NULL;
	for (int64_t tap = 0; wide && tap < taps; tap++) {
		int64_t first = tap * dilation;
		struct lb_tensor *part =
		    lb_slice(wide, LB_ALL, LB_RANGE(first, first + (depth - 1) * stride + 1, stride));
		part = lb_conv2d(lb_flatten(part, 0, 1), lb_slice(weight, LB_ALL, LB_AT(tap)), flat);
		sum = sum ? lb_add(sum, part) : part;
		if (!sum)
			return NULL;
	}
	return sum ? lb_astype(lb_unflatten(sum, 0, LB_SHAPE(batch, depth)), dtype) : NULL;
}

/* ---- transposed: the gradient of one by its x ---- */

/* (outputs, rows, columns, inputs / groups) as the weight of that convolution: (inputs, rows, columns, outputs / groups). */
static struct lb_tensor *turned(struct lb_tensor *w, int64_t groups)
{
	int64_t outputs = w->shape[0] / groups, inputs = w->shape[3];
	struct lb_tensor *y = lb_reshape(w, LB_SHAPE(groups, outputs, w->shape[1], w->shape[2], inputs));
	y = lb_transpose(y, LB_AXES(0, 4, 2, 3, 1));
	return lb_reshape(y, LB_SHAPE(groups * inputs, w->shape[1], w->shape[2], outputs));
}

/* x and w have four axes. The whole is computed without padding, and what is asked for is cut out of it. */
static struct lb_tensor *transposed(const char *name, struct lb_tensor *x, struct lb_tensor *w, lb_conv_options o,
				    const int64_t *more)
{
	struct lb_tensor *both[] = { x, w };
	enum lb_dtype dtype;
	if (!lb_common_float(name, 2, both, &dtype, lb_fail_site_now()))
		return NULL;
	x = both[0];
	w = both[1];
	const lb_list xs = lb_shape_of(x), ws = lb_shape_of(w);
	int64_t whole[4] = { x->shape[0], 0, 0, w->shape[0] }, high[4] = { 0 }, last[2];
	o.groups = o.groups ? o.groups : 1;
	if (o.groups < 1 || w->shape[0] % o.groups || x->shape[3] % o.groups || x->shape[3] / o.groups != w->shape[3]) {
		lb_conv_fail(name, xs, ws,
			     "groups must divide the channels of x and the outputs of weight, whose last axis is the "
			     "channels of x, divided by groups");
		return NULL;
	}
	for (int i = 0; i < 2; i++) {
		if (!lb_conv_steps(name, xs, ws, &o.stride[i], &o.dilation[i], o.padding[i]) ||
		    !lb_conv_spread(name, xs, ws, 1 + i, o.stride[i], o.dilation[i], o.padding[i], more[i],
				    &whole[1 + i], &last[i]))
			return NULL;
		high[1 + i] = last[i] > whole[1 + i] ? last[i] - whole[1 + i] : 0;
	}
	lb_conv_options plain = { { o.stride[0], o.stride[1] }, { 0, 0 }, { o.dilation[0], o.dilation[1] }, o.groups };
	struct lb_tensor *y = turned(w, o.groups);
	y = y ? lb_conv2d_input_grad((lb_list){ 4, whole }, y, x, plain) : NULL;
	y = y && (high[1] || high[2]) ? lb_pad(y, LB_SHAPE(), (lb_list){ 4, high }, 0) : y;
	return y ? lb_slice(y, LB_ALL, LB_RANGE(o.padding[0], last[0]), LB_RANGE(o.padding[1], last[1])) : NULL;
}

lb_tensor *lb_conv_transpose2d(lb_tensor *x, lb_tensor *weight, lb_conv_options options, lb_list output_padding)
{
	LB_ENTER_WHOLE();
	const char *const name = "conv_transpose2d";
	if (!LB_GIVEN(name, x) || !LB_GIVEN(name, weight) || !LB_GIVEN_LIST(name, output_padding.n, output_padding.v))
		return NULL;
	if (x->rank != 4 || weight->rank != 4 || (output_padding.n != 0 && output_padding.n != 2)) {
		lb_conv_fail(name, lb_shape_of(x), lb_shape_of(weight),
			     "both must have four axes: (batch, rows, columns, channels) and (outputs, rows, columns, "
			     "channels), and output_padding two numbers, or none");
		return NULL;
	}
	return transposed(name, x, weight, options, output_padding.n ? output_padding.v : (int64_t[]){ 0, 0 });
}

lb_tensor *lb_conv_transpose1d(lb_tensor *x, lb_tensor *weight, lb_conv_options options, int64_t output_padding)
{
	LB_ENTER_WHOLE();
	const char *const name = "conv_transpose1d";
	if (!LB_GIVEN(name, x) || !LB_GIVEN(name, weight))
		return NULL;
	if (x->rank != 3 || weight->rank != 3) {
		lb_conv_fail(name, lb_shape_of(x), lb_shape_of(weight),
			     "both must have three axes: (batch, length, channels) and (outputs, length, channels)");
		return NULL;
	}
	options.stride[1] = options.dilation[1] = 1;
	options.padding[1] = 0;
	struct lb_tensor *line = lb_expand_dims(x, LB_AXES(2)), *taps = lb_expand_dims(weight, LB_AXES(2));
	struct lb_tensor *y =
	    line && taps ? transposed(name, line, taps, options, (int64_t[]){ output_padding, 0 }) : NULL;
	return y ? lb_squeeze(y, LB_AXES(2)) : NULL;
}

/* Each tap along the depth is a transposed convolution of two axes, whose planes go to every stride-th place from its own on. */
lb_tensor *lb_conv_transpose3d(lb_tensor *x, lb_tensor *weight, lb_conv3d_options o, lb_list output_padding)
{
	LB_ENTER_WHOLE();
	const char *const name = "conv_transpose3d";
	if (!LB_GIVEN(name, x) || !LB_GIVEN(name, weight) || !LB_GIVEN_LIST(name, output_padding.n, output_padding.v))
		return NULL;
	if (x->rank != 5 || weight->rank != 5 || (output_padding.n != 0 && output_padding.n != 3)) {
		lb_conv_fail(name, lb_shape_of(x), lb_shape_of(weight),
			     "both must have five axes: (batch, depth, rows, columns, channels) and (outputs, depth, "
			     "rows, columns, channels), and output_padding three numbers, or none");
		return NULL;
	}
	const int64_t *more = output_padding.n ? output_padding.v : (int64_t[]){ 0, 0, 0 };
	const lb_list xs = lb_shape_of(x), ws = lb_shape_of(weight);
	int64_t stride = o.stride[0], dilation = o.dilation[0], padding = o.padding[0];
	int64_t taps = weight->shape[1], depth = x->shape[1], whole, last;
	if (!lb_conv_steps(name, xs, ws, &stride, &dilation, padding) ||
	    !lb_conv_spread(name, xs, ws, 1, stride, dilation, padding, more[0], &whole, &last))
		return NULL;
	enum lb_dtype dtype;
	lb_conv_options flat = {
		{ o.stride[1], o.stride[2] }, { o.padding[1], o.padding[2] }, { o.dilation[1], o.dilation[2] }, o.groups
	};
	if (!widen(name, &x, &weight, &dtype))
		return NULL;
	struct lb_tensor *planes = lb_flatten(x, 0, 1), *sum = NULL;
	for (int64_t tap = 0; planes && tap < taps; tap++) {
		struct lb_tensor *part = transposed(name, planes, lb_slice(weight, LB_ALL, LB_AT(tap)), flat, more + 1);
		part = part ? lb_unflatten(part, 0, LB_SHAPE(x->shape[0], depth)) : NULL;
		if (!part)
			return NULL;
		if (!sum)
			sum = lb_zeros(LB_SHAPE(part->shape[0], whole + more[0], part->shape[2], part->shape[3],
						part->shape[4]),
				       (enum lb_dtype)part->dtype);
		int64_t first = tap * dilation, end = first + (depth - 1) * stride + 1;
		sum = sum ? lb_slice_add(sum, part, LB_ALL, LB_RANGE(first, end, stride)) : NULL;
	}
	return sum ? lb_astype(lb_slice(sum, LB_ALL, LB_RANGE(padding, last)), dtype) : NULL;
}

/* ---- of two lines ---- */

lb_tensor *lb_convolve(lb_tensor *a, lb_tensor *b, lb_convolve_mode mode)
{
	LB_ENTER_WHOLE();
	const char *const name = "convolve";
	char ta[LB_SHAPE_TEXT], tb[LB_SHAPE_TEXT];
	if (!LB_GIVEN(name, a) || !LB_GIVEN(name, b))
		return NULL;
	if (a->rank != 1 || b->rank != 1 || a->size == 0 || b->size == 0 || (unsigned)mode > LB_CONVOLVE_VALID) {
		lb_fail(
		    "%s: a %s, b %s, mode %d: both must have one axis, with something along it, and the mode is LB_CONVOLVE_FULL, "
		    "_SAME or _VALID",
		    name, lb_shape_text(a->rank, a->shape, ta), lb_shape_text(b->rank, b->shape, tb), (int)mode);
		return NULL;
	}
	struct lb_tensor *x = a->size < b->size ? b : a, *taps = a->size < b->size ? a : b;
	int64_t n = taps->size, low = mode == LB_CONVOLVE_FULL ? n - 1 : mode == LB_CONVOLVE_SAME ? n / 2 : 0;
	int64_t high = mode == LB_CONVOLVE_SAME ? (n - 1) / 2 : low;
	x = lb_reshape(lb_pad(x, LB_SHAPE(low), LB_SHAPE(high), 0), LB_SHAPE(1, -1, 1));
	taps = lb_reshape(lb_slice(taps, LB_REVERSED), LB_SHAPE(1, -1, 1));
	struct lb_tensor *y = x && taps ? lb_conv1d(x, taps, (lb_conv_options){ 0 }) : NULL;
	return y ? lb_reshape(y, LB_SHAPE(-1)) : NULL;
}
