/* How a tensor of op `fused` is computed (struct lb_program of symtab.h), decoded and checked:
 * every operation is elementwise, every operand a register that came before. */
#ifndef LBX_PROGRAM_H
#define LBX_PROGRAM_H

#include "tensors/tensor.h"

enum { LBX_PROGRAM_REGS = LB_PROGRAM_INPUTS + LB_PROGRAM_INSNS, LBX_OPERANDS = 3 };

/* Registers: inputs, then constants, then one an instruction. */
struct lbx_program {
	int n_inputs, n_constants, n_insns;
	enum lb_dtype dtypes[LBX_PROGRAM_REGS];
	uint64_t constants[LB_PROGRAM_INPUTS];
	struct lbx_insn {
		const char *op; /* name; lives as long as the table */
		int n_operands;
		uint8_t operands[LBX_OPERANDS];
	} insns[LB_PROGRAM_INSNS];
};

#endif
