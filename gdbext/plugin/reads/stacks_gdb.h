/* The selected thread's stack and its variables, as gdb knows them. */
#ifndef LBX_PLUGIN_STACKS_GDB_H
#define LBX_PLUGIN_STACKS_GDB_H

#include "target/stacks.h"

/* There is one; it need not be destroyed. Like the target's questions, its functions fail
 * quietly while gdb has still to answer. */
struct lbx_stacks *lbx_stacks_gdb(void);
/* Of all threads, frames without variables: what gdb is asked for all of them at once. */
struct lbx_stacks *lbx_stacks_gdb_all(void);
/* Of a thread that stands at a breakpoint of ours, by its frames as `bt -frame-info location-and-address` shows them, and by
 * `info sharedlibrary`: the level of the innermost frame that is the program's own (record/libraries.h). 0: there is none. */
int lbx_stacks_gdb_own_level(const char *frames, const char *libraries);
/* The kernel's number of a thread, in what gdb tells of it: "[Current thread is 1 (Thread 0x7ff… (LWP 4711))]", "(process 4711)",
 * "(Thread 1.4711)"; 0: it has none. */
uint64_t lbx_stacks_gdb_thread_in(const char *text);
/* Names of registers for `info registers`, and what that says of those of a frame whose level is told, with its pc; false
 * without that. */
const char *lbx_stacks_gdb_registers(void);
bool lbx_stacks_gdb_take_registers(const char *answer, struct lbx_frame *ret);

#endif
