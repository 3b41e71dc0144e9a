#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "inspect/trace/log_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

bool lbx_log_pipe_open(struct lbx_log_pipe *ret)
{
	int ends[2];

	*ret = (struct lbx_log_pipe){ -1, -1, "" };
	if (pipe2(ends, O_CLOEXEC) != 0)
		return lb_fail("cannot make a pipe: %s", strerror(errno));
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*ret = (struct lbx_log_pipe){ .from = ends[0], .to = ends[1] };
	snprintf(ret->path, sizeof ret->path, "/proc/%d/fd/%d", (int)getpid(), ret->from);
	return true;
}

void lbx_log_pipe_close(struct lbx_log_pipe *pipe)
{
	if (pipe->from >= 0)
		close(pipe->from);
	if (pipe->to >= 0)
		close(pipe->to);
	pipe->from = pipe->to = -1;
}

/* What /proc/PID/ns/pid of a process says; false: it is not there. */
static bool find_numbers(const char *process, struct stat *ret)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%s/ns/pid", process);
	return stat(path, ret) == 0;
}

bool lbx_log_pipe_reaches(pid_t pid)
{
	char number[16], path[32];
	struct stat ours, theirs, process;

	snprintf(number, sizeof number, "%d", (int)pid);
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	if (stat(path, &process) != 0)
		return lb_fail(
		    "process %d is not on this machine, so that its values have no way here: let it write them "
		    "to a file (`log NAME --out FILE`, or LAZYBONES_LOG=FILE)",
		    (int)pid);
	if (process.st_uid != 0 && process.st_uid != geteuid())
		return lb_fail("process %d is another user's, who may not open a pipe of yours: follow it as that user",
			       (int)pid);
	if (find_numbers("self", &ours) && find_numbers(number, &theirs) &&
	    (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino))
		return lb_fail(
		    "process %d is in a container, where a pipe from here has no path: follow it within, or let "
		    "it write to a file (LAZYBONES_LOG=FILE)",
		    (int)pid);
	return true;
}

bool lbx_log_pipe_owner(const char *path, pid_t *ret)
{
	int pid, fd, n = 0;

	if (sscanf(path, "/proc/%d/fd/%d%n", &pid, &fd, &n) != 2 || path[n] || pid <= 0)
		return false;
	*ret = (pid_t)pid;
	return true;
}
