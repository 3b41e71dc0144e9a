/* A name that is followed: each process that has our runtime is told to log it. */
#ifndef LBX_PLUGIN_FOLLOW_H
#define LBX_PLUGIN_FOLLOW_H

#include "inspect/command.h"
#include "table/table.h"

/* Whether a process to come must be told when its runtime starts; this tells it. A process that cannot be followed is no
 * failure: that is said. */
bool lbx_follow_waits(void);
bool lbx_follow_put(struct lbx_context *context, const struct lbx_root *root);
/* gdb leaves the process. */
bool lbx_follow_take_back(struct lbx_context *context, const struct lbx_root *root);
/* The program has stopped: what it has written is shown, as far as gdb need not be asked, on a line that `ends` if others are to
 * write next; and, where gdb's TUI has the terminal, by gdb. */
void lbx_follow_settle(bool ends);
void lbx_follow_show(struct lbx_context *context);

#endif
