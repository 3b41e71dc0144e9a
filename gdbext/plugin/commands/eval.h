/* `tensor eval`: the runtime computes a tensor inside the program. */
#ifndef LBX_PLUGIN_EVAL_H
#define LBX_PLUGIN_EVAL_H

#include "inspect/command.h"

/* Lets gdb call the program, after the line. */
bool lbx_eval_run(struct lbx_context *context, const struct lbx_args *args);
/* At LBX_CALL: tells what has come of it. */
bool lbx_eval_end(struct lbx_context *context);

#endif
