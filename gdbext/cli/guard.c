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

static void be_child(const struct lbx_limits *limits, pid_t parent)
{
	struct rlimit none = { 0, 0 };

	signal(SIGINT, SIG_DFL);
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
		return lb_fail("%s: no answer within %lld seconds of processor time (--seconds allows "
			       "more)", what, (long long)limits->seconds);
	if (signal == SIGBUS)
		return lb_fail("%s became shorter, or its disk failed, while it was read", what);
	return lb_fail("the reader of %s died of SIG%s: the file is damaged in a way it did not "
		       "expect, or memory is short; this program is unharmed", what,
		       sigabbrev_np(signal) ? sigabbrev_np(signal) : "?");
}

bool lbx_guard(const struct lbx_limits *limits, const char *what, int (*body)(void *context),
	       void *context, int *ret)
{
	pid_t parent = getpid();
	int status;

	fflush(NULL);
	void (*before)(int) = signal(SIGINT, SIG_IGN); /* the child decides */
	pid_t child = fork();
	if (child < 0)
		return lb_fail("cannot start a process: %s", strerror(errno));
	if (child == 0) {
		be_child(limits, parent);
		_exit(body(context));
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, before);
	if (WIFEXITED(status)) {
		*ret = WEXITSTATUS(status);
		return true;
	}
	if (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGPIPE) {
		/* as a shell expects it */
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	return explain(limits, what, WTERMSIG(status));
}
