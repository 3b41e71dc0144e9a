/* From a thread's registers to the frames of its stack. */
#ifndef LBX_UNWIND_H
#define LBX_UNWIND_H

#include "target/lines.h"
#include "target/stacks.h"

/* Both fill `ret->frames`, which has room for max, and ret->n and ret->end. The first frame is
 * that of the registers; `after_call`: their pc is a return address. */

/* By libunwind, from the unwind tables in the target's memory; `tail` as in lbx_stacks_ops.walk. True
 * when it came to the stack's own end, or as far as was asked, without guesses on the way. */
bool lbx_unwind(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_registers *registers,
		bool after_call, int max, int tail, struct lbx_stack *ret);
/* By libdwfl, from the files of the modules and their debug information. */
bool lbx_unwind_dwfl(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_registers *registers,
		     bool after_call, int max, struct lbx_stack *ret);

/* Whether there are rules for how to leave the function at an address: without any, the frame there is
 * no stack's end. */
bool lbx_unwind_has_rules(struct lbx_lines *lines, uint64_t pc);

#endif
