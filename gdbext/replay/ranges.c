#include "replay/ranges.h"

#include <string.h>

#include "graph/shape.h"
#include "graph/tensor.h"
#include "replay/fused.h"

enum { PIECE = 4096 };

/* The elements of one row after the other, gathered; a broadcast one costs time but no memory. */
static void add_rows(const struct lb_tensor *t, struct lbx_summary *s)
{
	int64_t width = lb_dtypes[t->dtype].bytes, at[LB_MAX_RANK] = { 0 }, first = 0;
	int last = t->rank - 1;
	char piece[PIECE * 8];

	while (first < t->size) {
		const char *row = lb_tensor_data(t);
		for (int i = 0; i < last; i++)
			row += at[i] * t->strides[i] * width;
		for (int64_t done = 0; done < t->shape[last];) {
			int64_t n = t->shape[last] - done < PIECE ? t->shape[last] - done : PIECE;
			for (int64_t i = 0; i < n; i++)
				memcpy(piece + i * width, row + (done + i) * t->strides[last] * width, (size_t)width);
			lbx_summary_add(s, piece, n, first);
			first += n;
			done += n;
		}
		for (int i = last - 1; i >= 0 && ++at[i] == t->shape[i]; i--)
			at[i] = 0;
	}
}

bool lbx_range_of(lb_tensor *x, struct lbx_summary *ret)
{
	const struct lb_tensor *t = x;

	if (!lb_eval(x))
		return false;
	lbx_summary_init(ret, (enum lb_dtype)t->dtype);
	if (t->size && lb_is_row_contiguous(x))
		lbx_summary_add(ret, lb_tensor_data(t), t->size, 0);
	else if (t->size)
		add_rows(t, ret);
	return true;
}

static bool first_of(lb_tensor *x, uint64_t *ret)
{
	*ret = 0;
	if (!lb_eval(x))
		return false;
	if (((const struct lb_tensor *)x)->size != 1)
		return lb_fail("one of its steps has more than one element");
	memcpy(ret, lb_tensor_data(x), (size_t)lb_dtypes[lb_dtype_of(x)].bytes);
	return true;
}

static bool look(lb_tensor *result, int n, lb_tensor *const *operands, struct lbx_wire_step *ret)
{
	*ret = (struct lbx_wire_step){ .result = 0 };
	for (int k = 0; k < n; k++)
		if (!first_of(operands[k], &ret->operands[k]))
			return false;
	return first_of(result, &ret->result);
}

int lbx_steps_of(const struct lbx_wire_node *node, const void *data, int n_inputs, struct lbx_rebuilt *const *inputs,
		 struct lbx_wire_step *ret)
{
	int op = lb_op_by_name(node->op);
	lb_tensor *x[3] = { NULL };

	if (op == LB_OP_FUSED) {
		struct lbx_registers regs;
		if (!lbx_rebuild_registers(node, data, n_inputs, inputs, &regs))
			return -1;
		for (int i = 0; i < regs.n_steps; i++) {
			for (int k = 0; k < regs.steps[i].n_operands; k++)
				x[k] = regs.x[regs.steps[i].operands[k]];
			if (!look(regs.x[regs.n - regs.n_steps + i], regs.steps[i].n_operands, x, &ret[i]))
				return -1;
		}
		return regs.n_steps;
	}
	if (op < 0 || !lb_op_is_elementwise(op) || n_inputs > 3)
		return 0;
	for (int k = 0; k < n_inputs; k++)
		x[k] = inputs[k]->value;
	lb_tensor *result = lbx_remake_elementwise(op, (enum lb_dtype)node->dtype, n_inputs, x);
	return result && look(result, n_inputs, x, ret) ? 1 : -1;
}
