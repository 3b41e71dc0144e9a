/* Runs another program, so that neither its crash nor its endless loop is ours: the replay, dot. */
#ifndef LBX_WORKER_H
#define LBX_WORKER_H

#include "inspect/out.h"

/* Where the worker finds the write end of a pipe that nobody reads once who started it is dead. */
enum { LBX_WORKER_ALIVE = 201 };

struct lbx_worker {
	const char *path;
	char *const *argv;
	int fd, as;          /* a descriptor of ours, and its number there */
	const char *doing;   /* for the progress line: "replaying" */
	const char *what;    /* for errors: "the replay" */
	int64_t seconds;     /* of time, at most */
	const char *more;    /* what gives it more time, or NULL */
};

/* Waits until it has ended, with progress and Ctrl-C. True unless it could not be started, died by
 * a signal, or had to be killed; *ret_status is its exit status. */
bool lbx_worker_run(struct lbx_out *out, const struct lbx_worker *worker, int *ret_status);

#endif
