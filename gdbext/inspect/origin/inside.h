/* Inside an elementwise tensor: one element is computed again, to see which operation made its value. */
#ifndef LBX_INSIDE_H
#define LBX_INSIDE_H

#include "inspect/origin/look.h"
#include "inspect/replay/replay.h"
#include "tensors/program.h"

struct lbx_inside {
	struct lbx_program program; /* of a plain operation: one instruction */
	struct lbx_steps steps;
	int first; /* register of the first instruction */
	int last;  /* that of the value */
};

/* *known is false if it cannot be computed again, or is not elementwise. False, with an error, only
 * when the search must end. */
bool lbx_look_inside(struct lbx_search *search, const struct lbx_origin_link *link, bool *known,
		     struct lbx_inside *ret);
/* The register that the special value in `reg` goes back to: an input, which had it, or the
 * instruction that made it. */
int lbx_maker(const struct lbx_inside *inside, int reg, bool nan);
/* Whether a register holds NaN, or else Inf; *ret says which special value. */
bool lbx_register_is_bad(const struct lbx_inside *inside, int insn, int operand, bool nan, enum lbx_special *ret);
bool lbx_result_is_bad(const struct lbx_inside *inside, bool nan);

#endif
