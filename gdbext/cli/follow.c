/* The kernel stops a traced program (ptrace) when it is about to end, however that comes about, with
 * its memory in place: so nothing of what it did last is missed. It stops where a process makes
 * another, or becomes another program, too; any of its threads may make one, so that each is traced, and
 * stops for a moment when it begins and ends. Between these a program runs as if nobody were there; its
 * signals are handed on at once. Where it cannot be traced, because a debugger does, its last
 * milliseconds may be missed, and the processes that it makes. */
#define _GNU_SOURCE
#include "cli/follow.h"

#include <dirent.h>
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
#include "symtab.h"

enum { MOST_PROCESSES = 1024 };

/* NULL when there are too many. */
static struct lbx_followed *add(struct lbx_following *following, pid_t pid)
{
	struct lbx_followed **list, *program;

	if (following->n == MOST_PROCESSES)
		return NULL;
	list = realloc(following->list, ((size_t)following->n + 1) * sizeof(struct lbx_followed *));
	if (!list)
		return NULL;
	following->list = list;
	program = calloc(1, sizeof *program);
	if (!program)
		return NULL;
	program->pid = pid;
	return list[following->n++] = program;
}

static struct lbx_followed *find(const struct lbx_following *following, pid_t pid)
{
	for (int i = following->n; i-- > 0;)
		if (following->list[i]->pid == pid && following->list[i]->halt != LBX_ENDED)
			return following->list[i];
	return NULL;
}

/* False with errno. */
static bool seize_thread(pid_t tid)
{
	long options =
	    PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;

	return ptrace(PTRACE_SEIZE, tid, 0, (void *)options) == 0;
}

/* The threads that it has, beside the first; those that they make meanwhile are traced by then, or are
 * met in another round. False if there are others still. */
static bool seize_others(pid_t pid)
{
	enum { MOST_ROUNDS = 64 };
	struct dirent *entry;
	char path[64];
	bool any = true;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	for (int round = 0; any && round < MOST_ROUNDS; round++) {
		DIR *tasks = opendir(path);
		any = false;
		while (tasks && (entry = readdir(tasks))) {
			pid_t tid = (pid_t)atoi(entry->d_name);
			any |= tid > 0 && tid != pid && seize_thread(tid);
		}
		if (tasks)
			closedir(tasks);
	}
	return !any;
}

static void seize(struct lbx_followed *program)
{
	program->is_announced = program->is_seen = true;
	program->is_traced = seize_thread(program->pid);
	program->untraced = program->is_traced ? 0 : errno;
	program->in_part = program->is_traced && !seize_others(program->pid);
}

/* The process of a thread; 0: it is gone. */
static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	int pid = 0;

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	FILE *status = fopen(path, "re");
	while (status && pid == 0 && fgets(line, sizeof line, status))
		if (sscanf(line, "Tgid: %d", &pid) != 1)
			pid = 0;
	if (status)
		fclose(status);
	return (pid_t)pid;
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

static void be_program(char **argv, bool is_timed, const int go[2], int failed)
{
	char byte, most[16];

	if (is_timed) {
		setenv("LAZYBONES_TIMES", "memory", 0);
		snprintf(most, sizeof most, "%d", LB_FLIGHT_MOST);
		setenv("LAZYBONES_EVENTS", most, 0);
	}
	close(go[1]);
	if (read(go[0], &byte, 1) < 0)
		_exit(127);
	execvp(argv[0], argv);
	int error = errno;
	if (write(failed, &error, sizeof error) < 0)
		_exit(126);
	_exit(127);
}

/* 0, or the error for which the program could not be run; then it has ended. */
static int start(struct lbx_following *following, char **argv, bool is_timed, const int go[2], const int failed[2])
{
	int error = 0;
	pid_t pid = fork();

	if (pid == 0)
		be_program(argv, is_timed, go, failed[1]);
	close(go[0]);
	close(failed[1]);
	struct lbx_followed *program = pid > 0 ? add(following, pid) : NULL;
	if (program)
		seize(program);
	else
		error = errno;
	close(go[1]); /* off it goes */
	if (program && read(failed[0], &error, sizeof error) > 0) {
		/* it ends, and stands still for us at that */
		while (program->halt != LBX_ENDED) {
			lbx_follow_wait(following, 100);
			lbx_follow_release(program);
		}
	}
	close(failed[0]);
	return error;
}

bool lbx_follow_start(char **argv, bool is_timed, struct lbx_following *ret)
{
	int go[2], failed[2];

	*ret = (struct lbx_following){ .is_child = true };
	if (pipe2(go, O_CLOEXEC) != 0)
		return lb_fail("cannot make a pipe: %s", strerror(errno));
	if (pipe2(failed, O_CLOEXEC) != 0) {
		close(go[0]);
		close(go[1]);
		return lb_fail("cannot make a pipe: %s", strerror(errno));
	}
	wake_at_child();
	fflush(NULL);
	int error = start(ret, argv, is_timed, go, failed);
	return !error || lb_fail("cannot run %s: %s", argv[0], strerror(error));
}

bool lbx_follow_attach(pid_t pid, struct lbx_following *ret)
{
	*ret = (struct lbx_following){ 0 };
	wake_at_child();
	struct lbx_followed *program = add(ret, pid);
	if (!program)
		return lb_fail("out of memory");
	seize(program);
	return true;
}

static void go_on(pid_t pid, int signal)
{
	ptrace(PTRACE_CONT, pid, 0, (void *)(long)signal);
}

/* A process halts when it begins, and its parent tells how it was made: in any order. */
static void meet(struct lbx_followed *program)
{
	if (!program->is_announced || !program->is_seen)
		return;
	program->halt = LBX_AT_FORK;
	if (program->shares)
		lbx_follow_release(program);
}

static struct lbx_followed *add_traced(struct lbx_following *following, pid_t pid)
{
	struct lbx_followed *program = add(following, pid);

	if (program) {
		program->is_traced = true;
		program->halt = LBX_BEGINS;
	}
	return program;
}

/* What a thread has made: a thread of its process is none to announce. */
static void announce(struct lbx_following *following, pid_t parent, bool shares)
{
	unsigned long pid = 0;

	if (ptrace(PTRACE_GETEVENTMSG, parent, 0, &pid) != 0 || pid == 0 || process_of((pid_t)pid) != (pid_t)pid)
		return;
	struct lbx_followed *program = find(following, (pid_t)pid);
	if (!program)
		program = add_traced(following, (pid_t)pid);
	if (!program || program->is_announced)
		return;
	program->is_announced = true;
	program->shares = shares;
	meet(program);
}

static void halted(struct lbx_following *following, struct lbx_followed *program, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status);

	switch (event) {
	case PTRACE_EVENT_EXIT: program->halt = LBX_AT_END; break;
	case PTRACE_EVENT_EXEC:
		program->shares = false;
		program->halt = LBX_AT_EXEC;
		break;
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		announce(following, program->pid, event == PTRACE_EVENT_VFORK);
		go_on(program->pid, 0);
		break;
	case PTRACE_EVENT_STOP:
		if (!program->is_seen) {
			program->is_seen = true;
			meet(program);
		} else if (signal != SIGTRAP) {
			ptrace(PTRACE_LISTEN, program->pid, 0, 0); /* stopped by its shell */
		} else {
			go_on(program->pid, 0);
		}
		break;
	default: go_on(program->pid, signal);
	}
}

/* A thread other than the first. */
static void thread_halted(struct lbx_following *following, pid_t tid, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status);

	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE)
		announce(following, tid, event == PTRACE_EVENT_VFORK);
	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
		ptrace(PTRACE_LISTEN, tid, 0, 0); /* stopped by its shell */
	else
		go_on(tid, event ? 0 : signal);
}

static void look_for_the_untraced(struct lbx_following *following, bool all)
{
	for (int i = 0; i < following->n; i++) {
		struct lbx_followed *program = following->list[i];
		if ((all || !program->is_traced) && kill(program->pid, 0) != 0 && errno == ESRCH)
			program->halt = LBX_ENDED;
	}
}

/* What one of them stopped for, if it did: true while there may be more. */
static bool look(struct lbx_following *following)
{
	int status;
	pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);

	if (pid <= 0) {
		look_for_the_untraced(following, pid < 0 && errno == ECHILD);
		return false;
	}
	struct lbx_followed *program = find(following, pid);
	pid_t process = WIFSTOPPED(status) && !program ? process_of(pid) : pid;
	if (process != pid) {
		thread_halted(following, pid, status);
	} else if (WIFSTOPPED(status)) {
		if (!program)
			program = add_traced(following, pid);
		if (program)
			halted(following, program, status);
		else
			ptrace(PTRACE_DETACH, pid, 0, 0);
	} else if (program) {
		program->halt = LBX_ENDED;
		program->status = status;
	}
	return true;
}

static bool something_halts(const struct lbx_following *following)
{
	for (int i = 0; i < following->n; i++)
		if (following->list[i]->halt > LBX_BEGINS)
			return true;
	return false;
}

/* Whose parent died before it could tell. */
static void let_orphans_go(struct lbx_following *following)
{
	for (int i = 0; i < following->n; i++) {
		struct lbx_followed *program = following->list[i];
		if (program->is_seen && !program->is_announced) {
			program->is_announced = true;
			meet(program);
		}
	}
}

void lbx_follow_wait(struct lbx_following *following, int milliseconds)
{
	while (look(following))
		;
	if (something_halts(following))
		return;
	poll(NULL, 0, milliseconds);
	while (look(following))
		;
	let_orphans_go(following);
}

void lbx_follow_release(struct lbx_followed *program)
{
	if (program->halt == LBX_ENDED || program->halt <= LBX_BEGINS)
		return;
	program->halt = LBX_RUNS;
	go_on(program->pid, 0);
}

void lbx_follow_remove(struct lbx_following *following, int i)
{
	free(following->list[i]);
	following->n--;
	memmove(&following->list[i], &following->list[i + 1], (size_t)(following->n - i) * sizeof following->list[0]);
}

void lbx_follow_deinit(struct lbx_following *following)
{
	while (following->n > 0)
		lbx_follow_remove(following, following->n - 1);
	free(following->list);
	following->list = NULL;
}
