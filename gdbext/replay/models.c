#include "replay/models.h"

#include <string.h>

#include "base/plural.h"
#include "ops/conv.h"
#include "graph/tensor.h"

static double param_double(const struct lbx_wire_node *node, int i)
{
	double value;
	memcpy(&value, &node->params[i], sizeof value);
	return value;
}

static lb_tensor *norm(int op, const struct lbx_wire_node *node, int n, lb_tensor *const *x)
{
	lb_tensor *weight = node->params[1] & 1 ? x[1] : NULL;
	lb_tensor *bias = node->params[1] & 2 ? x[weight ? 2 : 1] : NULL;
	if (n != 1 + (weight != NULL) + (bias != NULL)) {
		lb_fail("%.20s: %d input%s no sense", node->op, n, LB_PLURAL(n, " makes", "s make"));
		return NULL;
	}
	if (op == LB_OP_RMS_NORM)
		return lb_rms_norm(x[0], weight, param_double(node, 0));
	return lb_layer_norm(x[0], weight, bias, param_double(node, 0));
}

static lb_tensor *norm_grad(int op, const struct lbx_wire_node *node, int n, lb_tensor *const *x)
{
	lb_norm_grads grads = { 0 };
	double eps = param_double(node, 0);
	if (n == 2 || n == 3)
		grads = op == LB_OP_RMS_NORM_GRAD ? lb_rms_norm_grad(x[0], x[2], x[1], eps)
						  : lb_layer_norm_grad(x[0], x[2], x[1], eps);
	lb_tensor *const parts[] = { grads.x, grads.weight, grads.bias };
	if (node->params[1] >= 0 && node->params[1] < 3 && parts[node->params[1]])
		return parts[node->params[1]];
	lb_fail("%.20s: its inputs and parameters make no sense", node->op);
	return NULL;
}

/* The parts are views of the node itself. */
static lb_tensor *attention_grad(const struct lbx_wire_node *node, int n, lb_tensor *const *x)
{
	lb_attention_grads grads = { 0 };
	if (n < 4)
		lb_fail("%.20s: %d input%s no sense", node->op, n, LB_PLURAL(n, " makes", "s make"));
	else
		grads = lb_attention_grad(x[0], x[1], x[2], param_double(node, 0), node->params[1] != 0, x[4], x[3]);
	return grads.q ? lb_tensor_input(grads.q, 0) : NULL;
}

static lb_conv_options conv_options(const int64_t *params)
{
	return (lb_conv_options){
		.stride = { lb_conv_param(params[0], 0), lb_conv_param(params[0], 1) },
		.padding = { lb_conv_param(params[1], 0), lb_conv_param(params[1], 1) },
		.dilation = { lb_conv_param(params[2], 0), lb_conv_param(params[2], 1) },
		.groups = params[3],
	};
}

static lb_tensor *pad(const struct lbx_wire_node *node, int n, lb_tensor *const *x)
{
	struct lb_tensor *t = NULL;
	bool fits = n == 2 && node->rank == x[0]->rank && x[1]->rank == 0 && x[0]->dtype == x[1]->dtype;
	for (int i = 0; fits && i < node->rank; i++) {
		int64_t low = lb_conv_param(node->params[i / 2], i % 2);
		fits = node->shape[i] >= x[0]->shape[i] && node->shape[i] - x[0]->shape[i] >= low;
	}
	if (!fits)
		lb_fail("%.20s: its inputs and parameters do not fit its shape", node->op);
	else
		t = lb_tensor_begin(LB_OP_PAD, (enum lb_dtype)x[0]->dtype, node->rank, node->shape, 2, x, NULL);
	if (t)
		memcpy(t->params, node->params, sizeof t->params);
	return lb_tensor_publish(t);
}

static lb_tensor *compute(int op, const struct lbx_wire_node *node, int n, lb_tensor *const *x)
{
	const int64_t *params = node->params;
	int64_t dims = params[0] >= 0 ? params[0] : params[0] == INT64_MIN ? 0 : -params[0];
	switch (op) {
	case LB_OP_LAYER_NORM:
	case LB_OP_RMS_NORM:
		return norm(op, node, n, x);
	case LB_OP_LAYER_NORM_GRAD:
	case LB_OP_RMS_NORM_GRAD:
		return norm_grad(op, node, n, x);
	case LB_OP_ATTENTION_GRAD:
		return attention_grad(node, n, x);
	case LB_OP_ROPE:
		return lb_rope(x[0], dims, params[0] < 0,
			       param_double(node, 1), param_double(node, 2), params[3]);
	case LB_OP_ATTENTION:
		return lb_attention(x[0], x[1], x[2], param_double(node, 0), params[1] != 0, x[3]);
	case LB_OP_SORT:
		return lb_sort(x[0], (int)params[0]);
	case LB_OP_ARGSORT:
		return lb_argsort(x[0], (int)params[0]);
	case LB_OP_TOPK:
		return lb_topk(x[0], params[1], (int)params[0]);
	case LB_OP_CUMSUM:
		return lb_cumsum(x[0], (int)params[0], params[1] != 0, params[2] != 0);
	case LB_OP_CATEGORICAL:
		return lb_categorical(x[0], (int)params[0], (lb_random_key){ (uint64_t)params[1] });
	case LB_OP_CONV2D:
		return lb_conv2d(x[0], x[1], conv_options(params));
	case LB_OP_CONV2D_INPUT_GRAD:
		return lb_conv2d_input_grad((lb_list){ node->rank, node->shape }, x[0], x[1], conv_options(params));
	case LB_OP_CONV2D_WEIGHT_GRAD:
		return lb_conv2d_weight_grad(x[0], (lb_list){ node->rank, node->shape }, x[1], conv_options(params));
	case LB_OP_PAD:
		return pad(node, n, x);
	default:
		lb_fail("%.20s: a replay cannot compute it", node->op);
		return NULL;
	}
}

lb_tensor *lbx_rebuild_model(int op, const struct lbx_wire_node *node, int n, lb_tensor *const *x)
{
	if (n < 1 || n > LBX_MODEL_INPUTS) {
		lb_fail("%.20s: %d input%s no sense", node->op, n, LB_PLURAL(n, " makes", "s make"));
		return NULL;
	}
	return compute(op, node, n, x);
}
