/* Products whose operands have changed places: of square matrices their shapes do not tell. */
#ifndef LBX_EXCHANGED_H
#define LBX_EXCHANGED_H

#include "inspect/compare/explain.h"
#include "inspect/operand/operand.h"

/* Whether one of the two is a product of matrices that are still there, and the other is what it is with these exchanged:
 * then that is added to what was found. False, with an error, where the user interrupts. */
bool lbx_explain_exchanged(struct lbx_context *context, const struct lbx_operand *a, const struct lbx_operand *b,
			   const struct lbx_comparison *comparison, struct lbx_explanations *ret);

#endif
