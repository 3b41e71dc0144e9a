/* What a followed program writes, shown while gdb waits for it: by a thread, since gdb's own does nothing else then. On a terminal
 * it draws one line anew; elsewhere it prints a line for each value; gdb's TUI has the terminal for itself, and shows the
 * chart at stops. */
#ifndef LBX_PLUGIN_FOLLOW_READER_H
#define LBX_PLUGIN_FOLLOW_READER_H

#include <sys/types.h>

#include "inspect/trace/follower.h"

/* Makes the pipe and the thread, once. */
bool lbx_follow_reader_open(void);
/* Of the pipe, which the program is to write into. */
const char *lbx_follow_reader_path(void);
/* The process that writes into it from now on. */
void lbx_follow_reader_expect(pid_t pid);
/* From here on values are of this one, and shown as `out` says. The program must not run. */
void lbx_follow_reader_begin(const struct lbx_follower *follower, const struct lbx_out *out);
void lbx_follow_reader_end(void);
/* The program has stopped: shows what it has written before, and, where others are to write next, ends the line. */
void lbx_follow_reader_settle(bool ends);
/* Those that have come so far, as a copy that stays until the next call: a program that was left may write on. NULL: none is
 * followed. */
const struct lbx_follower *lbx_follow_reader_now(void);
/* Whether gdb itself is to show them at this stop; then they have been shown. */
bool lbx_follow_reader_is_owed(void);

#endif
