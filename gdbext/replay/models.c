#include "replay/models.h"

#include <string.h>

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
		lb_fail("%.20s: %d inputs make no sense", node->op, n);
		return NULL;
	}
	if (op == LB_OP_RMS_NORM)
		return lb_rms_norm(x[0], weight, param_double(node, 0));
	return lb_layer_norm(x[0], weight, bias, param_double(node, 0));
}

static lb_tensor *compute(int op, const struct lbx_wire_node *node, int n, lb_tensor *const *x)
{
	const int64_t *params = node->params;
	switch (op) {
	case LB_OP_LAYER_NORM:
	case LB_OP_RMS_NORM:
		return norm(op, node, n, x);
	case LB_OP_ROPE:
		return lb_rope(x[0], params[0] < 0 ? -(params[0] + 1) + 1 : params[0], params[0] < 0,
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
	default:
		lb_fail("%.20s: a replay cannot compute it", node->op);
		return NULL;
	}
}

lb_tensor *lbx_rebuild_model(int op, const struct lbx_wire_node *node, int n, lb_tensor *const *x)
{
	if (n < 1 || n > LBX_MODEL_INPUTS) {
		lb_fail("%.20s: %d inputs make no sense", node->op, n);
		return NULL;
	}
	return compute(op, node, n, x);
}
