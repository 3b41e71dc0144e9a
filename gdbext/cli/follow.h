/* Programs that are followed to their end: one that is started here, or one that runs already, and the
 * processes that its first thread makes, and theirs. */
#ifndef LBX_FOLLOW_H
#define LBX_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

enum lbx_halt {
	LBX_RUNS,
	LBX_BEGINS,  /* it is not known yet what it is */
	LBX_AT_FORK, /* a copy of its parent, which has done nothing yet */
	LBX_AT_EXEC, /* another program takes its place, and has done nothing yet */
	LBX_AT_END,  /* its memory is still in place */
	LBX_ENDED,
};

struct lbx_followed {
	pid_t pid;
	enum lbx_halt halt; /* those at something end with lbx_follow_release() */
	bool is_traced;     /* it will halt */
	int untraced;       /* why it will not: an errno, or 0 */
	bool in_part;       /* some of its threads are not: what they make may be missed */
	bool shares;        /* its parent's memory, until it becomes another program (vfork) */
	bool is_announced, is_seen; /* by its parent; at its first halt */
	int status;         /* at its end, of one that was started here: as waitpid() gives it */
	void *data;         /* its owner's */
};

struct lbx_following {
	int n;
	struct lbx_followed **list; /* the one that was asked for first */
	bool is_child;              /* that was started here */
};

/* argv ends with NULL. The environment is ours; where it is to be timed, with LAZYBONES_TIMES=memory and a large
 * flight recorder. */
bool lbx_follow_start(char **argv, bool is_timed, struct lbx_following *ret);
bool lbx_follow_attach(pid_t pid, struct lbx_following *ret);
/* Waits until something halts, or for some milliseconds. A signal ends the wait. */
void lbx_follow_wait(struct lbx_following *following, int milliseconds);
/* Lets it go on, where it halted. */
void lbx_follow_release(struct lbx_followed *program);
/* Forgets one that has ended. */
void lbx_follow_remove(struct lbx_following *following, int i);
void lbx_follow_deinit(struct lbx_following *following);

#endif
