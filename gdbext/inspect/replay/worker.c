#define _GNU_SOURCE
#include "inspect/replay/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

enum { TICK_MS = 100 };

extern char **environ;

struct beginning {
	const struct lbx_worker *worker;
	int alive, failed; /* the error is written here; an exec closes it */
	pid_t parent;
};

/* In the parent's memory (vfork) until the exec, so it does no more than a signal handler may. */
static void become_worker(struct beginning *begin)
{
	const struct lbx_worker *worker = begin->worker;
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &usual, NULL);
	sigemptyset(&none);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != begin->parent) /* it died before */
		_exit(127);
	/* by way of high numbers: one of them may be where the other is to go */
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), high = null < 0 ? -1 : fcntl(null, F_DUPFD_CLOEXEC, 203);
	bool done = high >= 0 && dup2(worker->fd, 200) >= 0 && dup2(begin->alive, LBX_WORKER_ALIVE) >= 0;
	for (int i = 0; i < 3 && done; i++)
		done = dup2(high, i) >= 0;
	if (done && dup2(200, worker->as) >= 0 && close(200) == 0) {
		sigprocmask(SIG_SETMASK, &none, NULL);
		execve(worker->path, worker->argv, environ);
	}
	int error = errno;
	_exit(write(begin->failed, &error, sizeof error) < 0 ? 126 : 127);
}

/* The child gets the descriptor, the write end of a pipe that tells when it has ended, and neither
 * the terminal nor the debugger's signal dispositions; it ends when its parent does. posix_spawn() has no
 * such option, and fork() would copy the page tables of all of gdb's memory. */
static bool start(const struct lbx_worker *worker, int alive, pid_t *ret)
{
	struct beginning begin = { .worker = worker, .alive = alive, .parent = getpid() };
	sigset_t all, before;
	int failed[2], error = 0, status;

	if (pipe2(failed, O_CLOEXEC) != 0)
		return lb_fail("cannot start %s: %s", worker->path, strerror(errno));
	begin.failed = failed[1];
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before); /* no handler of ours runs in the child */
	pid_t pid = vfork();
	if (pid == 0)
		become_worker(&begin);
	if (pid < 0)
		error = errno;
	close(failed[1]);
	if (pid > 0 && read(failed[0], &error, sizeof error) < 0)
		error = errno;
	close(failed[0]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid > 0 && error)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	*ret = pid;
	return error == 0 || lb_fail("cannot start %s: %s", worker->path, strerror(error));
}

/* Waits for the pipe to be closed; kills the child when time is up or the user interrupts. */
static bool watch(struct lbx_out *out, const struct lbx_worker *worker, pid_t pid, int closed)
{
	int64_t begin = lb_clock_ms();
	bool ok = true;
	for (;;) {
		struct pollfd poll_fd = { .fd = closed, .events = POLLIN };
		int n = poll(&poll_fd, 1, TICK_MS);
		if (n > 0)
			return ok;
		int64_t elapsed = lb_clock_ms() - begin;
		if (!ok)
			continue;
		ok = lbx_progress(out, worker->doing, elapsed / 1000, worker->seconds);
		if (ok && elapsed > worker->seconds * 1000)
			ok = lb_fail("%s took more than %lld seconds%s", worker->what, (long long)worker->seconds,
				     worker->more ? worker->more : "");
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
