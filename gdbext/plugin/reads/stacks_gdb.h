/* The selected thread's stack and its variables, as gdb knows them. */
#ifndef LBX_PLUGIN_STACKS_GDB_H
#define LBX_PLUGIN_STACKS_GDB_H

#include "target/stacks.h"

/* There is one; it need not be destroyed. Like the target's questions, its functions fail
 * quietly while gdb has still to answer. */
struct lbx_stacks *lbx_stacks_gdb(void);
/* Of all threads, frames without variables: what gdb is asked for all of them at once. */
struct lbx_stacks *lbx_stacks_gdb_all(void);
/* The level of the frame that the user has selected. */
bool lbx_stacks_gdb_selected(int *ret);

#endif
