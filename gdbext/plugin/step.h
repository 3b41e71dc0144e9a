/* `tensor step`: the runtime's step mode (symtab.h) from gdb. */
#ifndef LBX_PLUGIN_STEP_H
#define LBX_PLUGIN_STEP_H

#include "inspect/command.h"

bool lbx_step_run(struct lbx_context *context, const struct lbx_args *args);

#endif
