#define _GNU_SOURCE
#include "cli/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/sanitizer.h"

/* The soft limits alone: a replay, which has limits of its own, may raise them again. */
static void lower(int resource, int64_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0 || (rlim_t)value >= limit.rlim_cur)
		return;
	limit.rlim_cur = (rlim_t)value;
	setrlimit(resource, &limit);
}

/* What ends the child ends this program likewise: a shell looks at how. */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
enum { ENDS = sizeof ends / sizeof *ends };

static volatile pid_t child_of_signals;

static void pass_on(int signal)
{
	kill(child_of_signals, signal);
}

/* Blocks them, and takes those over that are not ignored (as nohup has it). */
static void take_signals(struct sigaction before[ENDS], sigset_t *mask)
{
	struct sigaction action = { .sa_handler = pass_on, .sa_flags = SA_RESTART };
	sigset_t set;

	sigemptyset(&set);
	for (int i = 0; i < ENDS; i++)
		sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, mask);
	for (int i = 0; i < ENDS; i++) {
		sigaction(ends[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(ends[i], &action, NULL);
	}
}

static void give_signals_back(const struct sigaction before[ENDS])
{
	for (int i = 0; i < ENDS; i++)
		sigaction(ends[i], &before[i], NULL);
}

void lbx_guard_lift_memory(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_DATA, &limit);
}

static void be_child(const struct lbx_limits *limits, pid_t parent)
{
	struct rlimit none = { 0, 0 };

	/* nobody would read what an orphan finds; and a core of a reader of cores helps nobody */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setrlimit(RLIMIT_CORE, &none);
	if (!LB_SANITIZED)
		lower(RLIMIT_DATA, limits->memory);
	lower(RLIMIT_CPU, limits->seconds);
}

static bool explain(const struct lbx_limits *limits, const char *what, int signal)
{
	if (signal == SIGXCPU)
		return lb_fail("%s: no answer within %lld second%s of processor time (--seconds allows "
			       "more)",
			       what, (long long)limits->seconds, LB_S(limits->seconds));
	if (signal == SIGBUS)
		return lb_fail("%s became shorter, or its disk failed, while it was read", what);
	return lb_fail("the reader of %s died of SIG%s: the file is damaged in a way it did not "
		       "expect, or memory is short; this program is unharmed",
		       what, sigabbrev_np(signal) ? sigabbrev_np(signal) : "?");
}

bool lbx_guard(const struct lbx_limits *limits, const char *what, int (*body)(void *context), void *context, int *ret)
{
	pid_t parent = getpid();
	int status;

	fflush(NULL);
	struct sigaction before[ENDS];
	sigset_t mask;
	take_signals(before, &mask);
	pid_t child = fork();
	if (child <= 0) {
		int error = errno;
		give_signals_back(before);
		sigprocmask(SIG_SETMASK, &mask, NULL);
		if (child < 0)
			return lb_fail("cannot start a process: %s", strerror(error));
		be_child(limits, parent);
		_exit(body(context));
	}
	child_of_signals = child;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	give_signals_back(before);
	if (WIFEXITED(status)) {
		*ret = WEXITSTATUS(status);
		return true;
	}
	int died_of = WTERMSIG(status);
	if (died_of == SIGPIPE || died_of == SIGINT || died_of == SIGTERM || died_of == SIGHUP) {
		signal(died_of, SIG_DFL);
		raise(died_of);
	}
	return explain(limits, what, WTERMSIG(status));
}
