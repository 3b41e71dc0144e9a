/* What is new since the last stop, for those who listen: the events "tensors", of tensors that were born and are gone, and
 * "findings", of what the doctor finds that it has not found before.
 *
 * A stop and a step must not wait for that. So nobody looks while nobody listens; a thread of its own looks, when the
 * session is paused; and only where the program has stood still for a moment: whoever steps fast is told once of several
 * steps. It enters the session as a request does, and lists no more tensors than a limit. The doctor is not asked: what it
 * says to anyone is told to all who listen. */
#ifndef LBX_SERVE_WATCH_H
#define LBX_SERVE_WATCH_H

#include <stdbool.h>
#include <stddef.h>

struct lbx_session;
struct lbx_watch;

/* The session outlives it. NULL: no memory, or no thread. */
struct lbx_watch *lbx_watch_create(struct lbx_session *session);
/* Waits for its thread, which ends when gdb has: nothing is told any more. NULL is fine. */
void lbx_watch_end(struct lbx_watch *watch);
/* Once it has ended. NULL is fine. */
void lbx_watch_destroy(struct lbx_watch *watch);

/* None of these waits. One more, or one less, who listens for tensors. */
void lbx_watch_listen(struct lbx_watch *watch, int by);
void lbx_watch_has_stopped(struct lbx_watch *watch);
/* `is_over`: the program has ended; the next is another one. */
void lbx_watch_runs(struct lbx_watch *watch, bool is_over);
/* What `doctor --json` has answered. */
void lbx_watch_tell_findings(struct lbx_watch *watch, const char *answer, size_t n);

#endif
