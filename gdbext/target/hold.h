/* Holds a process still: all its threads are stopped by ptrace, without a signal that the
 * program could see. It runs on when the hold ends, and also when its holder dies: the
 * kernel then lets go. */
#ifndef LBX_HOLD_H
#define LBX_HOLD_H

#include <sys/types.h>

#include "target/registers.h"

struct lbx_hold;

/* NULL, saying why, when it is not permitted or the process ends meanwhile. Only the thread that
 * has started it may end it. */
struct lbx_hold *lbx_hold_start(pid_t pid);
/* The process' first thread comes first. */
const struct lbx_threads *lbx_hold_threads(const struct lbx_hold *hold);
/* Its threads run on; the list stays as it is. */
void lbx_hold_let_go(struct lbx_hold *hold);
void lbx_hold_end(struct lbx_hold *hold); /* NULL is fine */

/* What the system says a thread does: 'R' runs, 't' is stopped by who traces it, 'T' by a signal, 'Z' and 'X' have
 * ended (proc(5)); '?' if it does not say. */
char lbx_thread_state(pid_t tid);

#endif
