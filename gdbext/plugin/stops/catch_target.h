/* T of a catch: an expression, an id, a name, also one to come, and for `tensor break` a glob or an op. */
#ifndef LBX_PLUGIN_CATCH_TARGET_H
#define LBX_PLUGIN_CATCH_TARGET_H

#include "plugin/stops/catch_kinds.h"

/* Fills in what the catch is to stop for. May ask (lbx_bridge_waits), and fails then, too. */
bool lbx_catch_parse_tensor(struct lbx_context *context, const char *t, struct lbx_catch *ret);
/* As `tensor break` has it. */
bool lbx_catch_parse_target(struct lbx_context *context, const char *t, struct lbx_catch *ret);

/* Adds what the user may not expect: "no tensor has such a name yet". Nothing of a program that does not
 * run, or of any tensor. */
void lbx_catch_note(struct lbx_context *context, const struct lbx_catch *c, struct text *ret);

#endif
