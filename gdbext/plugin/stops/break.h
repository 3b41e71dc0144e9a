/* `tensor break`: catches by the op that computes a tensor. */
#ifndef LBX_PLUGIN_BREAK_H
#define LBX_PLUGIN_BREAK_H

#include "inspect/command.h"

bool lbx_break_run(struct lbx_context *context, const struct lbx_args *args);

#endif
