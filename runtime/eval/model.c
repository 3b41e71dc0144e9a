/* Operations of class KERNEL: parameters and inputs as their kernels take them. */
#include "eval/run.h"
#include "ops/conv.h"
#include "graph/shape.h"
#include "kernels/model.h"

static bool norm(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of(lb_tensor_input(t, 0)), vectors[2];
	const struct lb_view *given[2] = { NULL, NULL };
	uint32_t next = 1;
	for (int i = 0; i < 2; i++) {
		if (!(t->params[1] >> i & 1))
			continue;
		vectors[i] = lb_view_of(lb_tensor_input(t, next++));
		given[i] = &vectors[i];
	}
	return lb_kernel_norm(&run->exec, lb_ops[t->op].name, &x, given[0], given[1], lb_param_double(t, 0),
			      t->op == LB_OP_LAYER_NORM, lb_tensor_data(t));
}

static bool rope(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of(lb_tensor_input(t, 0));
	struct lb_rope rope = {
		.dims = t->params[0] < 0 ? -t->params[0] : t->params[0], .traditional = t->params[0] < 0,
		.base = lb_param_double(t, 1), .scale = lb_param_double(t, 2), .offset = t->params[3],
	};
	return lb_kernel_rope(&run->exec, &x, &rope, lb_tensor_data(t));
}

static bool norm_grad(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of(lb_tensor_input(t, 0)), grad = lb_view_of(lb_tensor_input(t, 1)), weight;
	if (t->n_inputs > 2)
		weight = lb_view_of(lb_tensor_input(t, 2));
	return lb_kernel_norm_grad(&run->exec, lb_ops[t->op].name, (enum lb_norm_part)t->params[1], &x,
				   t->n_inputs > 2 ? &weight : NULL, &grad, lb_param_double(t, 0),
				   t->op == LB_OP_LAYER_NORM_GRAD, lb_tensor_data(t));
}

/* The mask comes last, after the gradient if there is one. */
static bool attention(struct lb_run *run, struct lb_tensor *t)
{
	uint32_t n = t->op == LB_OP_ATTENTION_GRAD ? 4 : 3;
	struct lb_attention a = {
		.q = lb_view_of(lb_tensor_input(t, 0)), .k = lb_view_of(lb_tensor_input(t, 1)),
		.v = lb_view_of(lb_tensor_input(t, 2)), .masked = t->n_inputs > n, .causal = t->params[1] != 0,
		.scale = lb_param_double(t, 0),
	};
	if (a.masked) {
		const struct lb_tensor *mask = lb_tensor_input(t, n);
		int64_t scores[4] = { a.q.shape[0], a.q.shape[1], a.q.shape[2], a.k.shape[2] };
		a.mask = lb_view_of(mask);
		lb_broadcast_strides(mask->rank, mask->shape, mask->strides, 4, scores, a.mask.strides);
	}
	if (n == 3)
		return lb_kernel_attention(&run->exec, &a, lb_tensor_data(t));
	struct lb_view grad = lb_view_of(lb_tensor_input(t, 3));
	return lb_kernel_attention_grad(&run->exec, &a, &grad, lb_tensor_data(t));
}

static bool sort(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of(lb_tensor_input(t, 0));
	enum lb_sort_kind kind = t->op == LB_OP_SORT ? LB_SORT_VALUES
		: t->op == LB_OP_ARGSORT ? LB_SORT_INDICES : LB_SORT_TOP;
	return lb_kernel_sort(&run->exec, kind, &x, (int)t->params[0], t->params[1], lb_tensor_data(t));
}

static bool scan(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of(lb_tensor_input(t, 0));
	int axis = (int)t->params[0];
	if (t->op == LB_OP_CATEGORICAL)
		return lb_kernel_categorical(&run->exec, &x, axis, (uint64_t)t->params[1], lb_tensor_data(t));
	return lb_kernel_cumsum(&run->exec, &x, axis, t->params[1] != 0, t->params[2] != 0, lb_tensor_data(t));
}

/* A convolution of x and w, the result's rows and columns being those of `out`. */
static struct lb_conv conv_of(const struct lb_tensor *t, const struct lb_view *x, const struct lb_view *w,
			      const struct lb_view *out)
{
	struct lb_conv conv = { .x = *x, .w = *w, .groups = t->params[3] };
	for (int i = 0; i < 2; i++) {
		conv.out[i] = out->shape[1 + i];
		conv.stride[i] = lb_conv_param(t->params[0], i);
		conv.padding[i] = lb_conv_param(t->params[1], i);
		conv.dilation[i] = lb_conv_param(t->params[2], i);
	}
	return conv;
}

static bool conv2d(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_view first = lb_view_of(lb_tensor_input(t, 0)), second = lb_view_of(lb_tensor_input(t, 1));
	struct lb_view result = lb_view_of(t);
	struct lb_conv conv;
	switch (t->op) {
	case LB_OP_CONV2D_INPUT_GRAD:
		conv = conv_of(t, &result, &first, &second);
		return lb_kernel_conv2d_input_grad(&run->exec, &conv, &second, result.data);
	case LB_OP_CONV2D_WEIGHT_GRAD:
		conv = conv_of(t, &first, &result, &second);
		return lb_kernel_conv2d_weight_grad(&run->exec, &conv, &second, result.data);
	default:
		conv = conv_of(t, &first, &second, &result);
		return lb_kernel_conv2d(&run->exec, &conv, result.data);
	}
}

/* The value everywhere, then x where it belongs. */
static bool pad(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of(lb_tensor_input(t, 0)), value = lb_view_of(lb_tensor_input(t, 1));
	struct lb_view to = lb_view_of(t);
	if (!lb_kernel_fill(&run->exec, to.data, to.dtype, t->size, value.data))
		return false;
	for (int i = 0; i < t->rank; i++) {
		to.shape[i] = x.shape[i];
		to.data = (char *)to.data +
			lb_conv_param(t->params[i / 2], i % 2) * to.strides[i] * lb_dtypes[to.dtype].bytes;
	}
	return lb_kernel_copy(&run->exec, &to, &x);
}

bool lb_run_kernel(struct lb_run *run, struct lb_tensor *t)
{
	switch (t->op) {
	case LB_OP_LAYER_NORM:
	case LB_OP_RMS_NORM:
		return norm(run, t);
	case LB_OP_LAYER_NORM_GRAD:
	case LB_OP_RMS_NORM_GRAD:
		return norm_grad(run, t);
	case LB_OP_ROPE:
		return rope(run, t);
	case LB_OP_ATTENTION:
	case LB_OP_ATTENTION_GRAD:
		return attention(run, t);
	case LB_OP_SORT:
	case LB_OP_ARGSORT:
	case LB_OP_TOPK:
		return sort(run, t);
	case LB_OP_CUMSUM:
	case LB_OP_CATEGORICAL:
		return scan(run, t);
	case LB_OP_CONV2D:
	case LB_OP_CONV2D_INPUT_GRAD:
	case LB_OP_CONV2D_WEIGHT_GRAD:
		return conv2d(run, t);
	case LB_OP_PAD:
		return pad(run, t);
	default:
		return lb_fail("%s: cannot be computed", lb_ops[t->op].name);
	}
}
