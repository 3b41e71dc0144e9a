/* Products, convolutions, pools and norms. */
#include <math.h>
#include <string.h>

#include "windows.h"

/* ---- products ---- */

static lb_tensor *gemm(struct onnx_call *c)
{
	lb_tensor *a = c->in[0], *b = c->in[1];
	double alpha = onnx_float(c, "alpha", 1), beta = onnx_float(c, "beta", 1);
	if (onnx_int(c, "transA", 0))
		a = lb_transpose(a, LB_ALL_AXES);
	if (onnx_int(c, "transB", 0))
		b = lb_transpose(b, LB_ALL_AXES);
	if (c->in[2])
		return lb_addmm(c->in[2], a, b, alpha, beta);
	return lb_multiply(lb_matmul(a, b), lb_scalar(alpha));
}

/* Einstein's summation with the two things that NumPy leaves to the reader written out: the
 * axes of "...", by capitals, and the result's labels when there is no "->". */
static lb_tensor *einsum(struct onnx_call *c)
{
	const char *equation = onnx_text(c, "equation", "");
	char spec[256];
	size_t n = 0;
	int counts[128] = { 0 }, ellipsis = 0, operand = 0;
	bool arrow = false;
	for (const char *at = equation; *at && n + 80 < sizeof spec; at++) {
		if (strncmp(at, "...", 3) == 0) {
			if (!arrow && operand < c->node->n_in) {
				const char *end = at + 3 + strcspn(at + 3, ",-"), *p;
				int named = 0;
				for (p = at; p > equation && p[-1] != ','; p--)
					named += p[-1] != ' ';
				for (p = at + 3; p < end; p++)
					named += *p != ' ';
				ellipsis = lb_rank(c->in[operand]) - named;
			}
			for (int k = 0; k < ellipsis; k++)
				spec[n++] = (char)('A' + k);
			at += 2;
		} else if (*at != ' ') {
			operand += *at == ',';
			arrow |= *at == '>';
			if (!arrow && *at != ',' && *at != '-')
				counts[*at & 127]++;
			spec[n++] = *at;
		}
	}
	if (!arrow) {
		spec[n++] = '-';
		spec[n++] = '>';
		for (int k = 0; k < ellipsis; k++)
			spec[n++] = (char)('A' + k);
		for (int label = 'A'; label <= 'z'; label++)
			if (counts[label] == 1)
				spec[n++] = (char)label;
	}
	spec[n] = 0;
	return lb_einsum(spec, c->node->n_in, c->in);
}

/* ---- windows ---- */

static lb_list last_axes(int n)
{
	static const int64_t axes[ONNX_MOST_SPATIAL] = { -1, -2, -3 };
	return (lb_list){ n, axes };
}

/* The kernel's axes as one. */
static lb_tensor *flat_windows(lb_tensor *x, const struct onnx_windows *w, double value)
{
	return lb_flatten(onnx_windows_view(x, w, value, value), 2 + w->n, -1);
}

/* Which element of all each is, of which the axes of a picture lie in order, or in the opposite one. */
static lb_tensor *numbered(lb_tensor *x, bool column_major)
{
	int rank = lb_rank(x);
	int64_t shape[LB_MAX_RANK], axes[LB_MAX_RANK];
	for (int k = 0; k < rank; k++) {
		axes[k] = column_major && k >= 2 ? rank + 1 - k : k;
		shape[k] = lb_dim(x, (int)axes[k]);
	}
	return lb_transpose(lb_reshape(onnx_iota(lb_size(x)), (lb_list){ rank, shape }), (lb_list){ rank, axes });
}

static lb_tensor *max_pool(struct onnx_call *c)
{
	struct onnx_windows w;
	lb_tensor *x = c->in[0];
	if (!onnx_windows(c, NULL, &w))
		return NULL;
	bool column_major = onnx_int(c, "storage_order", 0);
	lb_tensor *windows = flat_windows(x, &w, lb_dtype_of(x) == LB_U8 ? 0 : -INFINITY);
	if (c->node->n_out > 1)
		c->out[1] = lb_squeeze(lb_take_along_axis(flat_windows(numbered(x, column_major), &w, 0),
							  lb_argmax(windows, LB_AXES(-1), true), -1),
				       LB_AXES(-1));
	return lb_max(windows, LB_AXES(-1), false);
}

/* Elements go where they were the largest, by their places in what pools of this kind were taken of. */
static lb_tensor *max_unpool(struct onnx_call *c)
{
	lb_list kernel = onnx_ints(c, "kernel_shape"), strides = onnx_ints(c, "strides"), pads = onnx_ints(c, "pads");
	lb_tensor *x = c->in[0], *flat = lb_reshape(x, LB_SHAPE(-1));
	int64_t shape[LB_MAX_RANK], high[LB_MAX_RANK], size[ONNX_MOST_VALUES], all = 1;
	int rank = lb_rank(x), n = rank - 2;
	lb_list asked = onnx_values(c, 2, size);
	for (int k = 0; k < rank; k++) {
		shape[k] = lb_dim(x, k);
		if (k >= 2)
			shape[k] = (shape[k] - 1) * onnx_at(strides, k - 2, 1) + onnx_at(kernel, k - 2, 1) -
				   onnx_at(pads, k - 2, 0) - onnx_at(pads, k - 2 + n, 0);
		high[k] = onnx_at(asked, k, shape[k]) - shape[k];
		all *= shape[k];
	}
	lb_tensor *y = lb_put_along_axis(lb_zeros(LB_SHAPE(all), lb_dtype_of(x)), lb_reshape(c->in[1], LB_SHAPE(-1)),
					 flat, 0, LB_PUT_ASSIGN);
	return lb_pad(lb_reshape(y, (lb_list){ rank, shape }), LB_SHAPE(), (lb_list){ rank, high }, 0);
}

static lb_tensor *average_pool(struct onnx_call *c)
{
	struct onnx_windows w;
	lb_tensor *x = c->in[0];
	if (!onnx_windows(c, NULL, &w))
		return NULL;
	lb_tensor *ones = lb_ones((lb_list){ lb_rank(x), lb_shape(x) }, lb_dtype_of(x));
	lb_tensor *counted = onnx_windows_view(ones, &w, onnx_int(c, "count_include_pad", 0), 0);
	return lb_divide(lb_sum(onnx_windows_view(x, &w, 0, 0), last_axes(w.n), false),
			 lb_sum(counted, last_axes(w.n), false));
}

static lb_tensor *lp_pool(struct onnx_call *c)
{
	struct onnx_windows w;
	double p = (double)onnx_int(c, "p", 2);
	if (!onnx_windows(c, NULL, &w))
		return NULL;
	lb_tensor *powers = lb_power(lb_abs(c->in[0]), lb_scalar(p));
	return lb_power(lb_sum(onnx_windows_view(powers, &w, 0, 0), last_axes(w.n), false), lb_scalar(1 / p));
}

/* The adjoint of taking windows: each is added where it was. Their elements lie in the channels,
 * which windows they are in the last axis. */
static lb_tensor *col_to_im(struct onnx_call *c)
{
	int64_t size[ONNX_MOST_VALUES], kernel[ONNX_MOST_VALUES], whole[LB_MAX_RANK], shape[LB_MAX_RANK],
	    strides[LB_MAX_RANK], each = 1, step = 1;
	lb_tensor *x = c->in[0];
	int n = onnx_values(c, 1, size).n;
	lb_list stride = onnx_ints(c, "strides"), pads = onnx_ints(c, "pads"), dilation = onnx_ints(c, "dilations");
	if (onnx_values(c, 2, kernel).n != n || n < 1 || n > ONNX_MOST_SPATIAL)
		return onnx_refuse(c, "windows over %d axes", n);
	for (int k = n - 1; k >= 0; k--) {
		int64_t low = onnx_at(pads, k, 0), high = onnx_at(pads, n + k, 0);
		int64_t apart = onnx_at(dilation, k, 1), by = onnx_at(stride, k, 1);
		whole[k + 2] = size[k] + low + high;
		shape[k + 2] = kernel[k];
		shape[k + 2 + n] = (whole[k + 2] - apart * (kernel[k] - 1) - 1) / by + 1;
		strides[k + 2] = step * apart;
		strides[k + 2 + n] = step * by;
		step *= whole[k + 2];
		each *= kernel[k];
	}
	whole[0] = shape[0] = lb_dim(x, 0);
	whole[1] = shape[1] = lb_dim(x, 1) / each;
	strides[1] = step;
	strides[0] = step * whole[1];
	lb_tensor *y = lb_strided_add(lb_zeros((lb_list){ n + 2, whole }, lb_dtype_of(x)),
				      lb_reshape(x, (lb_list){ 2 + 2 * n, shape }), (lb_list){ 2 + 2 * n, strides }, 0);
	for (int k = 0; k < n; k++)
		y = onnx_part(y, k + 2, onnx_at(pads, k, 0), onnx_at(pads, k, 0) + size[k]);
	return y;
}

static lb_tensor *global_average_pool(lb_tensor *x)
{
	return lb_mean(x, last_axes(lb_rank(x) - 2), true);
}

static lb_tensor *global_max_pool(lb_tensor *x)
{
	return lb_max(x, last_axes(lb_rank(x) - 2), true);
}

/* Channels lie second here and last in the runtime. */
static lb_tensor *conv(struct onnx_call *c)
{
	struct onnx_windows w;
	lb_tensor *x = c->in[0], *weight = c->in[1], *y;
	int rank = lb_rank(x);
	int64_t last[LB_MAX_RANK], second[LB_MAX_RANK], low[LB_MAX_RANK] = { 0 }, high[LB_MAX_RANK] = { 0 };
	if (!onnx_windows(c, lb_shape(weight) + 2, &w))
		return NULL;
	if (w.n > 2)
		return onnx_refuse(c, "convolutions over %d axes", w.n);
	lb_conv_options options = { .groups = onnx_int(c, "group", 1) };
	for (int k = 0; k < rank; k++) {
		last[k] = k == 0 ? 0 : k == rank - 1 ? 1 : k + 1;
		second[k] = k == 0 ? 0 : k == 1 ? rank - 1 : k - 1;
	}
	x = lb_transpose(x, (lb_list){ rank, last });
	weight = lb_transpose(weight, (lb_list){ rank, last });
	for (int k = 0; k < w.n; k++) {
		options.stride[k] = w.stride[k];
		options.dilation[k] = w.dilation[k];
		bool even = w.low[k] == w.high[k];
		options.padding[k] = even ? w.low[k] : 0;
		low[k + 1] = even ? 0 : w.low[k];
		high[k + 1] = even ? 0 : w.high[k];
	}
	x = lb_pad(x, (lb_list){ rank, low }, (lb_list){ rank, high }, 0);
	y = w.n == 1 ? lb_conv1d(x, weight, options) : lb_conv2d(x, weight, options);
	if (c->in[2])
		y = lb_add(y, c->in[2]);
	return lb_transpose(y, (lb_list){ rank, second });
}

/* Weights lie as (channels, outputs / group, …), and what is padded is cut off the result. */
static lb_tensor *conv_transpose(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *weight = c->in[1], *y;
	int rank = lb_rank(x), n = rank - 2;
	int64_t groups = onnx_int(c, "group", 1), m = lb_dim(weight, 1) * groups;
	lb_list strides = onnx_ints(c, "strides"), dilations = onnx_ints(c, "dilations"), pads = onnx_ints(c, "pads");
	lb_list more = onnx_ints(c, "output_padding"), sizes = onnx_ints(c, "output_shape");
	const char *same = onnx_text(c, "auto_pad", "NOTSET");
	int64_t last[LB_MAX_RANK], second[LB_MAX_RANK], shape[LB_MAX_RANK], axes[LB_MAX_RANK];
	lb_conv3d_options o = { .groups = groups };
	onnx_ints(c, "kernel_shape");
	if (n < 1 || n > 3)
		return onnx_refuse(c, "transposed convolutions over %d axes", n);
	for (int k = 0; k < rank; k++) {
		last[k] = k == 0 ? 0 : k == rank - 1 ? 1 : k + 1;
		second[k] = k == 0 ? 0 : k == 1 ? rank - 1 : k - 1;
	}
	shape[0] = groups;
	shape[1] = lb_dim(weight, 0) / groups;
	shape[2] = m / groups;
	axes[0] = 0;
	axes[1] = 2;
	for (int k = 0; k < n; k++) {
		shape[3 + k] = lb_dim(weight, 2 + k);
		axes[2 + k] = 3 + k;
		o.stride[k] = onnx_at(strides, k, 1);
		o.dilation[k] = onnx_at(dilations, k, 1);
	}
	axes[2 + n] = 1;
	weight = lb_transpose(lb_reshape(weight, (lb_list){ rank + 1, shape }), (lb_list){ rank + 1, axes });
	weight = lb_flatten(weight, 0, 1);
	x = lb_transpose(x, (lb_list){ rank, last });
	lb_conv_options flat = { { o.stride[0], o.stride[1] }, { 0, 0 }, { o.dilation[0], o.dilation[1] }, groups };
	y = n == 1   ? lb_conv_transpose1d(x, weight, flat, onnx_at(more, 0, 0))
	    : n == 2 ? lb_conv_transpose2d(x, weight, flat, LB_SHAPE(onnx_at(more, 0, 0), onnx_at(more, 1, 0)))
		     : lb_conv_transpose3d(x, weight, o,
					   LB_SHAPE(onnx_at(more, 0, 0), onnx_at(more, 1, 0), onnx_at(more, 2, 0)));
	y = y ? lb_transpose(y, (lb_list){ rank, second }) : NULL;
	for (int k = 0; y && k < n; k++) {
		int64_t whole = lb_dim(y, 2 + k), low = onnx_at(pads, k, 0), high = onnx_at(pads, n + k, 0);
		if (sizes.n > 0 || strcmp(same, "NOTSET") != 0) {
			int64_t size = sizes.n > 0 ? sizes.v[k] : lb_dim(c->in[0], 2 + k) * o.stride[k],
				out = whole - size;
			low = out < 0 ? 0 : strcmp(same, "SAME_UPPER") == 0 ? out / 2 : out - out / 2;
			high = out - low;
		}
		if (high < 0) {
			int64_t behind[LB_MAX_RANK] = { 0 };
			behind[2 + k] = -high;
			y = lb_pad(y, LB_SHAPE(), (lb_list){ rank, behind }, 0);
		}
		y = onnx_part(y, 2 + k, low, whole - high);
	}
	return y && c->in[2] ? lb_add(y, onnx_channels(c->in[2], rank)) : y;
}

/* ---- norms ---- */

static lb_tensor *layer_norm(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *weight = c->in[1], *bias = c->in[2];
	int rank = lb_rank(x), axis = onnx_axis(onnx_int(c, "axis", -1), rank);
	double eps = onnx_float(c, "epsilon", 1e-5);
	int64_t axes[LB_MAX_RANK];
	onnx_int(c, "stash_type", 1);
	for (int k = axis; k < rank; k++)
		axes[k - axis] = k;
	lb_list over = { rank - axis, axes };
	c->out[1] = lb_mean(x, over, true);
	c->out[2] = lb_rsqrt(lb_add(lb_var(x, over, true, 0), lb_scalar(eps)));
	lb_tensor *y = lb_layer_norm(lb_flatten(x, axis, -1), lb_reshape(weight, LB_SHAPE(-1)),
				     bias ? lb_reshape(bias, LB_SHAPE(-1)) : NULL, eps);
	return lb_reshape(y, (lb_list){ rank, lb_shape(x) });
}

static lb_tensor *normalized(lb_tensor *x, lb_tensor *mean, lb_tensor *var, double eps, lb_tensor *weight,
			     lb_tensor *bias)
{
	lb_tensor *y = lb_multiply(lb_subtract(x, mean), lb_rsqrt(lb_add(var, lb_scalar(eps))));
	return lb_add(lb_multiply(y, onnx_channels(weight, lb_rank(x))), onnx_channels(bias, lb_rank(x)));
}

/* old * momentum + now * (1 - momentum), of the C values that `now` holds */
static lb_tensor *running(lb_tensor *old, lb_tensor *now, double momentum)
{
	return lb_add(lb_multiply(old, lb_scalar(momentum)),
		      lb_multiply(lb_reshape(now, LB_SHAPE(-1)), lb_scalar(1 - momentum)));
}

static lb_tensor *batch_norm(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *mean = c->in[3], *var = c->in[4];
	double eps = onnx_float(c, "epsilon", 1e-5), momentum = onnx_float(c, "momentum", 0.9);
	int rank = lb_rank(x);
	if (!onnx_int(c, "training_mode", 0))
		return normalized(x, onnx_channels(mean, rank), onnx_channels(var, rank), eps, c->in[1], c->in[2]);
	int64_t axes[LB_MAX_RANK] = { 0 };
	for (int k = 1; k < rank - 1; k++)
		axes[k] = k + 1;
	lb_list over = { rank - 1, axes };
	lb_tensor *new_mean = lb_mean(x, over, true), *new_var = lb_var(x, over, true, 0);
	c->out[1] = running(mean, new_mean, momentum);
	c->out[2] = running(var, new_var, momentum);
	return normalized(x, new_mean, new_var, eps, c->in[1], c->in[2]);
}

static lb_tensor *instance_norm(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	lb_list over = last_axes(lb_rank(x) - 2);
	return normalized(x, lb_mean(x, over, true), lb_var(x, over, true, 0), onnx_float(c, "epsilon", 1e-5), c->in[1],
			  c->in[2]);
}

static lb_tensor *rms_norm(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	int rank = lb_rank(x), axis = onnx_axis(onnx_int(c, "axis", -1), rank);
	onnx_int(c, "stash_type", 1);
	lb_tensor *y =
	    lb_rms_norm(lb_flatten(x, axis, -1), lb_reshape(c->in[1], LB_SHAPE(-1)), onnx_float(c, "epsilon", 1e-5));
	return lb_reshape(y, (lb_list){ rank, lb_shape(x) });
}

/* Each group of channels has a mean and a variance, each channel a weight and a bias. */
static lb_tensor *group_norm(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	int64_t groups = onnx_int(c, "num_groups", 1);
	onnx_int(c, "stash_type", 1);
	lb_tensor *apart = lb_reshape(x, LB_SHAPE(lb_dim(x, 0), groups, -1));
	lb_tensor *off = lb_subtract(apart, lb_mean(apart, LB_AXES(2), true));
	lb_tensor *var = lb_add(lb_var(apart, LB_AXES(2), true, 0), lb_scalar(onnx_float(c, "epsilon", 1e-5)));
	lb_tensor *y = lb_reshape(lb_multiply(off, lb_rsqrt(var)), (lb_list){ lb_rank(x), lb_shape(x) });
	return lb_add(lb_multiply(y, onnx_channels(c->in[1], lb_rank(x))), onnx_channels(c->in[2], lb_rank(x)));
}

static lb_tensor *mean_variance_norm(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	lb_list axes = onnx_ints(c, "axes"), over = axes.n < 0 ? LB_AXES(0, 2, 3) : axes;
	lb_tensor *deviation = lb_sqrt(lb_var(x, over, true, 0));
	return lb_divide(lb_subtract(x, lb_mean(x, over, true)), lb_add(deviation, lb_scalar(1e-9)));
}

/* x / (bias + alpha / size * sum of the squares of the channels around)^beta */
static lb_tensor *local_response_norm(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *sum = lb_scalar(0);
	int64_t size = onnx_int(c, "size", 1), n = lb_dim(x, 1), low[LB_MAX_RANK] = { 0 }, high[LB_MAX_RANK] = { 0 };
	double alpha = onnx_float(c, "alpha", 1e-4), beta = onnx_float(c, "beta", 0.75);
	low[1] = (size - 1) / 2;
	high[1] = size - 1 - low[1];
	lb_tensor *squares = lb_pad(lb_square(x), (lb_list){ lb_rank(x), low }, (lb_list){ lb_rank(x), high }, 0);
	for (int64_t i = 0; i < size; i++)
		sum = lb_add(sum, onnx_part(squares, 1, i, i + n));
	lb_tensor *base =
	    lb_add(lb_multiply(sum, lb_scalar(alpha / (double)size)), lb_scalar(onnx_float(c, "bias", 1)));
	return lb_divide(x, lb_power(base, lb_scalar(beta)));
}

const struct onnx_op onnx_model[] = {
	{ "AveragePool", .run = average_pool },
	{ "BatchNormalization", .run = batch_norm },
	{ "Col2Im", .run = col_to_im },
	{ "Conv", .run = conv },
	{ "ConvTranspose", .run = conv_transpose },
	{ "Einsum", .run = einsum },
	{ "Gemm", .run = gemm },
	{ "GlobalAveragePool", .unary = global_average_pool },
	{ "GlobalMaxPool", .unary = global_max_pool },
	{ "GroupNormalization", .run = group_norm },
	{ "InstanceNormalization", .run = instance_norm },
	{ "LRN", .run = local_response_norm },
	{ "LayerNormalization", .run = layer_norm },
	{ "LpPool", .run = lp_pool },
	{ "MatMul", .binary = lb_matmul },
	{ "MaxPool", .run = max_pool },
	{ "MaxUnpool", .run = max_unpool },
	{ "MeanVarianceNormalization", .run = mean_variance_norm },
	{ "RMSNormalization", .run = rms_norm },
	{ .name = NULL },
};
