/* A pipe of this process that a program on this machine writes its log of values into: whoever opens its path writes into it. */
#ifndef LBX_LOG_PIPE_H
#define LBX_LOG_PIPE_H

#include <stdbool.h>
#include <sys/types.h>

struct lbx_log_pipe {
	int from, to; /* as of pipe(); -1: closed. `from` does not wait */
	char path[64];
};

bool lbx_log_pipe_open(struct lbx_log_pipe *ret);
void lbx_log_pipe_close(struct lbx_log_pipe *pipe);
/* Whether that process can open it; fails if not. */
bool lbx_log_pipe_reaches(pid_t pid);
/* Whether a path is that of such a pipe; *ret: whose. */
bool lbx_log_pipe_owner(const char *path, pid_t *ret);

#endif
