#include "replay/updates.h"

#include "graph/tensor.h"

static lb_tensor *senseless(const struct lbx_wire_node *node)
{
	lb_fail("%.20s: its inputs and parameters make no sense", node->op);
	return NULL;
}

/* The indices from the positions of the first element and of the steps. */
static lb_tensor *slice(int op, const struct lbx_wire_node *node, lb_tensor *x, lb_tensor *update)
{
	lb_index index[LB_MAX_RANK];
	bool fits = update->rank == x->rank && node->params[0] >= 0 && node->params[1] >= 0;
	for (int i = 0; fits && i < x->rank; i++) {
		int64_t size = x->shape[i], n = update->shape[i], behind = 1, reach;
		for (int k = i + 1; k < x->rank; k++)
			behind *= x->shape[k] ? x->shape[k] : 1;
		int64_t first = n && size ? node->params[0] / behind % size : 0;
		int64_t step = n && size ? node->params[1] / behind % size + 1 : 1;
		fits = n == 0 || (lb_mul(n - 1, step, &reach) && reach < size - first);
		index[i] = fits ? LB_RANGE(first, n ? first + reach + 1 : first, step) : LB_ALL;
	}
	if (!fits)
		return senseless(node);
	return op == LB_OP_SLICE_UPDATE ? lb_slice_update_n(x, update, x->rank, index)
					: lb_slice_add_n(x, update, x->rank, index);
}

static lb_tensor *strided_add(const struct lbx_wire_node *node, lb_tensor *const *x)
{
	int64_t strides[LB_MAX_RANK];
	if (x[2]->rank != 1 || x[2]->size != x[1]->rank || x[2]->dtype != LB_I64 ||
	    !lb_copy_out(x[2], strides, (size_t)x[2]->size * sizeof *strides))
		return senseless(node);
	return lb_strided_add(x[0], x[1], (lb_list){ x[1]->rank, strides }, node->params[0]);
}

lb_tensor *lbx_rebuild_update(int op, const struct lbx_wire_node *node, lb_tensor *const *x)
{
	switch (op) {
	case LB_OP_SLICE_UPDATE:
	case LB_OP_SLICE_ADD:
		return slice(op, node, x[0], x[1]);
	case LB_OP_STRIDED_ADD:
		return strided_add(node, x);
	case LB_OP_SCATTER_ADD:
		return lb_scatter_add(x[0], x[1], x[2], (int)node->params[0]);
	default:
		return lb_put_along_axis(x[0], x[1], x[2], (int)node->params[0], (lb_put)node->params[1]);
	}
}
