/* `tensor break … --if EXPRESSION`: whether what it says of tensors holds at a stop. */
#ifndef LBX_PLUGIN_CATCH_CONDITION_H
#define LBX_PLUGIN_CATCH_CONDITION_H

#include "plugin/stops/catch_kinds.h"

/* Its syntax; what names stand for is known at a stop. */
bool lbx_catch_condition_parse(const char *text, struct lbx_catch *ret);
/* `it`: the stop's tensor, by that name; or NULL. *holds is true, too, where it cannot be computed, which the user is told. False
 * while gdb's answers are awaited. */
bool lbx_catch_condition_holds(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_tensor *it,
			       bool *holds);

#endif
