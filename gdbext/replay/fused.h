/* Nodes of op `fused`: their programs, operation by operation, as the runtime's own functions
 * check them. */
#ifndef LBX_FUSED_H
#define LBX_FUSED_H

#include "replay/rebuild.h"

/* Inputs, then constants, then one a step. */
struct lbx_registers {
	int n, n_steps;
	lb_tensor *x[LB_PROGRAM_INPUTS + LB_PROGRAM_INSNS];
	struct {
		int n_operands;
		uint8_t operands[3]; /* registers */
	} steps[LB_PROGRAM_INSNS];
};

/* The elementwise operation `op` over n operands. */
lb_tensor *lbx_remake_elementwise(int op, enum lb_dtype dtype, int n, lb_tensor *const *x);

bool lbx_rebuild_registers(const struct lbx_wire_node *node, const void *data, int n_inputs,
			   struct lbx_rebuilt *const *inputs, struct lbx_registers *ret);
lb_tensor *lbx_rebuild_fused(const struct lbx_wire_node *node, const void *data, int n_inputs,
			     struct lbx_rebuilt *const *inputs);

#endif
