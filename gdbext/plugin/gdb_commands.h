/* Commands that only a debugger has: eval, catch, uncatch, help. */
#ifndef LBX_PLUGIN_GDB_COMMANDS_H
#define LBX_PLUGIN_GDB_COMMANDS_H

#include "inspect/command.h"

/* The line that runs after the program has done `tensor eval`: `LBX_EVALUATED ID`. */
#define LBX_EVALUATED "_evaluated"
bool lbx_evaluated(struct lbx_context *context, const char *words);

#endif
