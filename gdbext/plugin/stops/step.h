/* `tensor step`: the runtime's step mode (symtab.h) from gdb. */
#ifndef LBX_PLUGIN_STEP_H
#define LBX_PLUGIN_STEP_H

#include "inspect/command.h"
#include "table/table.h"

bool lbx_step_run(struct lbx_context *context, const struct lbx_args *args);
/* What the selected thread evaluates now, step mode or not; ret->eval is 0 if nothing. */
bool lbx_step_evaluation(struct lbx_context *context, struct lbx_thread *ret);
/* For when gdb is about to begin with another process. */
bool lbx_step_begin(void);

#endif
