/* Which variable holds each tensor, where the program's language does not tell: global ones and statics first, for they hold
 * longest; then those of the threads' frames, the outermost first. */
#ifndef LBX_VARIABLES_HELD_H
#define LBX_VARIABLES_HELD_H

#include "inspect/command.h"

struct lbx_variables_held;

/* Of what the program holds now; false without memory, or when the user has had enough. */
bool lbx_variables_held_find(struct lbx_context *context, struct lbx_variables_held **ret);
/* "cache"; "net, in main": of the tensor, or else of another one over its buffer; NULL: none is known. */
const char *lbx_variables_held_by(struct lbx_variables_held *held, const struct lbx_tensor *t);
/* What was not looked through, or "". */
const char *lbx_variables_held_limits(const struct lbx_variables_held *held);
void lbx_variables_held_destroy(struct lbx_variables_held *held); /* NULL is fine */

#endif
