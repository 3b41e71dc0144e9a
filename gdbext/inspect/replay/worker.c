#define _GNU_SOURCE
#include "inspect/replay/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

enum { TICK_MS = 100 };

extern char **environ;

/* The child gets the descriptor, the write end of a pipe that tells when it has ended, and neither
 * the terminal nor the debugger's signal dispositions. */
static bool start(const struct lbx_worker *worker, int alive, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	/* by way of a high number: one of them may be where the other is to go */
	posix_spawn_file_actions_adddup2(&actions, worker->fd, 200);
	posix_spawn_file_actions_adddup2(&actions, alive, LBX_WORKER_ALIVE);
	posix_spawn_file_actions_adddup2(&actions, 200, worker->as);
	posix_spawn_file_actions_addclose(&actions, 200);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setpgroup(&attributes, 0);
	int error = posix_spawn(ret, worker->path, &actions, &attributes, worker->argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return error == 0 || lb_fail("cannot start %s: %s", worker->path, strerror(error));
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for the pipe to be closed; kills the child when time is up or the user interrupts. */
static bool watch(struct lbx_out *out, const struct lbx_worker *worker, pid_t pid, int closed)
{
	int64_t begin = now_ms();
	bool ok = true;
	for (;;) {
		struct pollfd poll_fd = { .fd = closed, .events = POLLIN };
		int n = poll(&poll_fd, 1, TICK_MS);
		if (n > 0)
			return ok;
		int64_t elapsed = now_ms() - begin;
		if (!ok)
			continue;
		ok = lbx_progress(out, worker->doing, elapsed / 1000, worker->seconds);
		if (ok && elapsed > worker->seconds * 1000)
			ok = lb_fail("%s took more than %lld seconds%s", worker->what,
				     (long long)worker->seconds, worker->more ? worker->more : "");
		if (!ok)
			kill(pid, SIGKILL);
	}
}

bool lbx_worker_run(struct lbx_out *out, const struct lbx_worker *worker, int *ret_status)
{
	int ends[2], status = 0;
	pid_t pid;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return lb_fail("cannot watch %s: %s", worker->what, strerror(errno));
	bool started = start(worker, ends[1], &pid);
	close(ends[1]);
	bool ok = started && watch(out, worker, pid, ends[0]);
	close(ends[0]);
	if (!started)
		return false;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*ret_status = WEXITSTATUS(status);
	if (ok && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return lb_fail("%s used up the processor time that it may have (`ulimit -t`)%s", worker->what,
			       worker->more ? worker->more : "");
	if (ok && WIFSIGNALED(status))
		return lb_fail("%s died of signal %d (%s)", worker->what, WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	return ok;
}
