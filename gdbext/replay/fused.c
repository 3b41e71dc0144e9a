#include "replay/fused.h"

#include <string.h>

#include "base/op.h"
#include "graph/shape.h"
#include "graph/tensor.h"
#include "ops/operation.h"

static bool damaged(const struct lbx_wire_node *node)
{
	return lb_fail("%.20s: its program is damaged", node->op);
}

lb_tensor *lbx_remake_elementwise(int op, enum lb_dtype dtype, int n, lb_tensor *const *x)
{
	static const int64_t none[LB_PARAMS];

	return lb_remake(&(struct lb_recipe){ .op = op, .dtype = dtype, .params = none, .n = n, .x = x });
}

/* One more register: its tensor is as the program says. */
static bool put(const struct lbx_wire_node *node, const struct lbx_wire_program *program, struct lbx_registers *regs,
		lb_tensor *x)
{
	if (!x)
		return false;
	if (lb_dtype_of(x) != (lb_dtype)program->dtypes[regs->n])
		return damaged(node);
	regs->x[regs->n++] = x;
	return true;
}

static bool run_insn(const struct lbx_wire_node *node, const struct lbx_wire_program *program, int i,
		     struct lbx_registers *regs)
{
	int op = lb_op_by_name(program->insns[i].op), n_operands;
	lb_tensor *x[3];
	if (op < 0 || !lb_op_is_elementwise(op))
		return damaged(node);
	n_operands = lb_operations[op].least;
	for (int k = 0; k < n_operands; k++) {
		if (program->insns[i].operands[k] >= regs->n)
			return damaged(node);
		x[k] = regs->x[program->insns[i].operands[k]];
		regs->steps[i].operands[k] = program->insns[i].operands[k];
	}
	regs->steps[i].n_operands = n_operands;
	regs->n_steps = i + 1;
	return put(node, program, regs,
		   lbx_remake_elementwise(op, (enum lb_dtype)program->dtypes[regs->n], n_operands, x));
}

bool lbx_rebuild_registers(const struct lbx_wire_node *node, const void *data, int n_inputs,
			   struct lbx_rebuilt *const *inputs, struct lbx_registers *ret)
{
	struct lbx_wire_program program;
	bool ok = node->data_bytes == sizeof program;

	*ret = (struct lbx_registers){ 0 };
	if (ok)
		memcpy(&program, data, sizeof program);
	if (!ok || program.n_inputs != n_inputs || program.n_inputs + program.n_constants > LB_PROGRAM_INPUTS ||
	    program.n_insns == 0 || program.n_insns > LB_PROGRAM_INSNS)
		return damaged(node);
	for (int i = 0; i < program.n_inputs && ok; i++)
		ok = put(node, &program, ret, inputs[i]->value);
	for (int i = 0; i < program.n_constants && ok; i++) {
		uint8_t dtype = program.dtypes[ret->n];
		ok = (dtype < LB_DTYPES || damaged(node)) &&
		     put(node, &program, ret,
			 lb_from_data(&program.constants[i], lb_dtypes[dtype].bytes, LB_SHAPE(), (lb_dtype)dtype));
	}
	for (int i = 0; i < program.n_insns && ok; i++)
		ok = run_insn(node, &program, i, ret);
	return ok;
}

lb_tensor *lbx_rebuild_fused(const struct lbx_wire_node *node, const void *data, int n_inputs,
			     struct lbx_rebuilt *const *inputs)
{
	struct lbx_registers regs;

	if (!lbx_rebuild_registers(node, data, n_inputs, inputs, &regs))
		return NULL;
	/* constants may once have had larger shapes than the inputs */
	lb_tensor *value = regs.x[regs.n - 1];
	return lb_same_shape(lb_rank(value), lb_shape(value), node->rank, node->shape)
		   ? value
		   : lb_contiguous(lb_broadcast_to(value, (lb_list){ node->rank, node->shape }));
}
