#include "replay/rebuild.h"

#include <stdlib.h>

#include "graph/shape.h"
#include "graph/tensor.h"
#include "ops/operation.h"
#include "replay/fused.h"

static lb_list shape_of(const struct lbx_wire_node *node)
{
	return (lb_list){ node->rank, node->shape };
}

static bool leaf(const struct lbx_wire_node *node, void *data, struct lbx_rebuilt *ret)
{
	int64_t n = (int64_t)node->data_bytes / lb_dtypes[node->dtype].bytes;
	ret->flat = lb_from_memory(data, (size_t)(n * lb_dtypes[node->dtype].bytes), LB_SHAPE(n), (lb_dtype)node->dtype,
				   NULL, NULL);
	ret->value = lb_as_strided(ret->flat, shape_of(node), (lb_list){ node->rank, node->strides }, node->offset);
	return ret->value != NULL;
}

/* A view is laid over its input's whole buffer, since strides and offset are the buffer's. */
static lb_tensor *view(const struct lbx_wire_node *node, struct lbx_rebuilt *input, struct lbx_rebuilt *ret)
{
	if (!input->flat)
		input->flat = lb_reshape(input->value, LB_SHAPE(-1));
	ret->flat = input->flat;
	return lb_as_strided(input->flat, shape_of(node), (lb_list){ node->rank, node->strides }, node->offset);
}

static lb_tensor *compute(int op, const struct lbx_wire_node *node, int n, struct lbx_rebuilt *const *inputs)
{
	enum { FEW = 8 };
	lb_tensor *few[FEW], **x = n <= FEW ? few : malloc((size_t)n * sizeof *x);
	if (!x) {
		lb_fail("out of memory for %d inputs", n);
		return NULL;
	}
	for (int i = 0; i < n; i++)
		x[i] = inputs[i]->value;
	lb_tensor *value = lb_remake(&(struct lb_recipe){ .op = op,
							  .dtype = (enum lb_dtype)node->dtype,
							  .shape = shape_of(node),
							  .params = node->params,
							  .n = n,
							  .x = x });
	if (x != few)
		free(x);
	return value;
}

bool lbx_rebuild(const struct lbx_wire_node *node, void *data, int n_inputs, struct lbx_rebuilt *const *inputs,
		 struct lbx_rebuilt *ret)
{
	int op = lb_op_by_name(node->op);
	if (op < 0)
		return lb_fail("%.20s: this version of the replay does not know the operation", node->op);
	*ret = (struct lbx_rebuilt){ 0 };
	if (op == LB_OP_DATA)
		return leaf(node, data, ret);
	if (op == LB_OP_TRACER)
		return lb_fail("it stands for an input of a function that was traced, and never has a value");
	if (!lb_check_inputs(op, n_inputs))
		return false;
	if (lb_op_class(op) == LB_CLASS_VIEW)
		ret->value = view(node, inputs[0], ret);
	else if (op == LB_OP_FUSED)
		ret->value = lbx_rebuild_fused(node, data, n_inputs, inputs);
	else
		ret->value = compute(op, node, n_inputs, inputs);
	if (!ret->value)
		return false;
	const struct lb_tensor *t = ret->value;
	if (t->dtype == node->dtype && lb_same_shape(t->rank, t->shape, node->rank, node->shape))
		return true;
	char got[LB_SHAPE_TEXT], claimed[LB_SHAPE_TEXT];
	return lb_fail("%.20s: its inputs give %s %s, its record says %s %s: the record is damaged", node->op,
		       lb_dtypes[t->dtype].name, lb_shape_text(t->rank, t->shape, got), lb_dtypes[node->dtype].name,
		       lb_shape_text(node->rank, node->shape, claimed));
}
