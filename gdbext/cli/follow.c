/* The kernel stops a traced program (ptrace) when it is about to end, however that comes about, with
 * its memory in place: so nothing of what it did last is missed. Until then it runs as if nobody
 * were there; its signals are handed on at once. Where it cannot be traced, because a debugger
 * does, its last milliseconds may be missed. */
#define _GNU_SOURCE
#include "cli/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

static bool seize(struct lbx_followed *program)
{
	return program->is_traced = ptrace(PTRACE_SEIZE, program->pid, 0,
					   (void *)(long)PTRACE_O_TRACEEXIT) == 0;
}

static void nothing(int signal)
{
	(void)signal;
}

/* So that the end of a wait is noticed at once. */
static void wake_at_child(void)
{
	struct sigaction action = { .sa_handler = nothing };

	sigaction(SIGCHLD, &action, NULL);
}

static void be_program(char **argv, const int go[2], int failed)
{
	char byte;

	setenv("LAZYBONES_TIMES", "1", 0);
	setenv("LAZYBONES_EVENTS", "1048576", 0);
	close(go[1]);
	if (read(go[0], &byte, 1) < 0)
		_exit(127);
	execvp(argv[0], argv);
	int error = errno;
	if (write(failed, &error, sizeof error) < 0)
		_exit(126);
	_exit(127);
}

bool lbx_follow_start(char **argv, struct lbx_followed *ret)
{
	int go[2], failed[2], error = 0;

	*ret = (struct lbx_followed){ .is_child = true };
	if (pipe2(go, O_CLOEXEC) != 0)
		return lb_fail("cannot make a pipe: %s", strerror(errno));
	if (pipe2(failed, O_CLOEXEC) != 0) {
		close(go[0]);
		close(go[1]);
		return lb_fail("cannot make a pipe: %s", strerror(errno));
	}
	wake_at_child();
	fflush(NULL);
	ret->pid = fork();
	if (ret->pid == 0)
		be_program(argv, go, failed[1]);
	if (ret->pid > 0)
		seize(ret);
	close(go[0]);
	close(go[1]); /* off it goes */
	close(failed[1]);
	bool ok = ret->pid > 0 ? read(failed[0], &error, sizeof error) == 0 : (error = errno, false);
	close(failed[0]);
	if (ok)
		return true;
	if (ret->pid > 0) {
		/* it ends, and stands still for us at that */
		while (!ret->ended) {
			lbx_follow_wait(ret, 100);
			lbx_follow_release(ret);
		}
	}
	return lb_fail("cannot run %s: %s", argv[0], strerror(error));
}

bool lbx_follow_attach(pid_t pid, struct lbx_followed *ret)
{
	*ret = (struct lbx_followed){ .pid = pid };
	wake_at_child();
	seize(ret);
	return true;
}

/* What the program stopped for, if it did: true while there may be more. */
static bool look(struct lbx_followed *program)
{
	int status;
	pid_t pid = waitpid(program->pid, &status, WNOHANG | __WALL);

	if (pid == 0 || (pid < 0 && errno == EINTR))
		return false;
	if (pid < 0) {
		program->ended = kill(program->pid, 0) != 0 && errno == ESRCH;
		return false;
	}
	if (!WIFSTOPPED(status)) {
		program->ended = true;
		program->status = status;
		return false;
	}
	int event = status >> 16, signal = WSTOPSIG(status);
	if (event == PTRACE_EVENT_EXIT) {
		program->at_end = true;
		return false;
	}
	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
		ptrace(PTRACE_LISTEN, program->pid, 0, 0); /* stopped by its shell */
	else
		ptrace(PTRACE_CONT, program->pid, 0, (void *)(long)(event ? 0 : signal));
	return true;
}

void lbx_follow_wait(struct lbx_followed *program, int milliseconds)
{
	while (look(program))
		;
	if (program->at_end || program->ended)
		return;
	poll(NULL, 0, milliseconds);
	while (look(program))
		;
}

void lbx_follow_release(struct lbx_followed *program)
{
	if (program->at_end) {
		program->at_end = false;
		ptrace(PTRACE_CONT, program->pid, 0, 0);
	}
}
