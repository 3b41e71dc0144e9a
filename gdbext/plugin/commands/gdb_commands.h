/* Commands that only a debugger has: eval, catch, uncatch, help. */
#ifndef LBX_PLUGIN_GDB_COMMANDS_H
#define LBX_PLUGIN_GDB_COMMANDS_H

#include "inspect/command.h"

/* `tensor eval`, after the program was called. */
bool lbx_evaluated(struct lbx_context *context);

#endif
