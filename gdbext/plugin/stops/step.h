/* `tensor step`: the runtime's step mode (symtab.h) from gdb. */
#ifndef LBX_PLUGIN_STEP_H
#define LBX_PLUGIN_STEP_H

#include "inspect/command.h"

/* Opens the file that `step in` sources, once in gdb's life. */
bool lbx_step_open(void);
/* For when gdb is about to begin with another process. */
bool lbx_step_begin(void);

#endif
