/* A program that is followed to its end: one that is started here, or one that runs already. */
#ifndef LBX_FOLLOW_H
#define LBX_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

struct lbx_followed {
	pid_t pid;
	bool is_child;
	bool is_traced; /* it will stand still at its end, to be read once more */
	bool at_end;    /* it does */
	bool ended;
	int status;     /* then, of a child: as waitpid() gives it */
};

/* argv ends with NULL. The environment is ours, with LAZYBONES_TIMES=1 and a large flight
 * recorder. */
bool lbx_follow_start(char **argv, struct lbx_followed *ret);
bool lbx_follow_attach(pid_t pid, struct lbx_followed *ret);
/* Waits until the program has come to its end, or for some milliseconds. A signal ends the wait. */
void lbx_follow_wait(struct lbx_followed *program, int milliseconds);
/* Lets it go: to its end, or on. */
void lbx_follow_release(struct lbx_followed *program);

#endif
