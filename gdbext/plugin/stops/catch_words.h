/* What the user writes behind `tensor catch KIND`, and of T for `tensor break`: an expression, an id, a name, also
 * one to come, or a glob; for a break an op, too. */
#ifndef LBX_PLUGIN_CATCH_WORDS_H
#define LBX_PLUGIN_CATCH_WORDS_H

#include "plugin/stops/catch_kinds.h"

/* These fill in what the catch is to stop for. They may ask (lbx_bridge_waits), and fail then, too. */
bool lbx_catch_parse(struct lbx_context *context, const struct lbx_args *args, struct lbx_catch *ret);
/* T, as `tensor break` has it. */
bool lbx_catch_parse_target(struct lbx_context *context, const char *t, struct lbx_catch *ret);
/* The name of an operation, of the runtime's or, as far as it can be told without a program, of ggml's or MLX's. */
bool lbx_catch_is_op(const char *name);
/* "LO,HI" */
bool lbx_catch_parse_range(const char *text, struct lbx_catch *ret);

/* Adds what the user may not expect: "no tensor has such a name yet". Nothing of a program that does not
 * run, or of any tensor. */
void lbx_catch_note(struct lbx_context *context, const struct lbx_catch *c, struct text *ret);

#endif
