/* What a program is told of the catches and switches that are set: when it comes, and when gdb leaves it. */
#ifndef LBX_PLUGIN_PROGRAM_H
#define LBX_PLUGIN_PROGRAM_H

#include "inspect/command.h"

/* Its runtime starts, or gdb has connected to it. */
bool lbx_program_start(struct lbx_context *context);
/* gdb has attached: what was set before reaches the process, now or, while it has no runtime, later. */
bool lbx_program_attach(struct lbx_context *context);
/* gdb is about to begin with another process. False while the answer is awaited. */
bool lbx_program_begin(void);
/* gdb is about to leave it; how: "quit", and perhaps to kill it. $_lb_graph is set to 1 where it has to run on first, until
 * a breakpoint; then this is to be called with "again " before that. */
bool lbx_program_leave(struct lbx_context *context, const char *how);

#endif
