/* New threads may appear while others are being stopped: the list is read again until a whole
 * pass has found no new one, and then nobody is left who could start another. */
#define _GNU_SOURCE
#include "target/hold.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/vector.h"
#include "lazybones.h"
#include "target/permission.h"
#include "target/printable.h"

enum { MAX_THREADS = 65536, STOP_SECONDS = 5 };

struct lbx_hold {
	pid_t pid;
	struct lbx_threads threads;
	int threads_room, signals_room;
	bool is_over;
	int *signals; /* that a thread was about to get when it was stopped; 0: none */
};

static bool is_held(const struct lbx_hold *hold, pid_t tid)
{
	for (int i = 0; i < hold->threads.n; i++)
		if (hold->threads.list[i].tid == (uint64_t)tid)
			return true;
	return false;
}

static bool make_room(struct lbx_hold *hold)
{
	int n = hold->threads.n;
	return (n < MAX_THREADS && lb_reserve(hold->threads.list, hold->threads_room, n + 1) &&
		lb_reserve(hold->signals, hold->signals_room, n + 1)) ||
	       lb_fail("too many threads to hold: %d", n);
}

/* Waits until a thread that was told to stop has stopped; false when it ended instead. A thread in
 * the kernel's deepest sleep may not stop for long. */
static bool wait_for(pid_t tid, int *signal)
{
	double end = lb_clock_seconds() + STOP_SECONDS;
	struct timespec pause = { .tv_nsec = 100000 };
	int status;

	for (;;) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);
		if (got == tid && WIFSTOPPED(status)) {
			/* an event is our stop; anything else is a signal on its way */
			*signal = status >> 16 ? 0 : WSTOPSIG(status);
			return true;
		}
		if (got == tid || (got < 0 && errno != EINTR))
			return false;
		if (lb_clock_seconds() > end)
			return lb_fail("thread %d does not stop within %d seconds", (int)tid, STOP_SECONDS);
		nanosleep(&pause, NULL);
	}
}

char lbx_thread_state(pid_t tid)
{
	char path[64], line[512], *at = NULL;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	FILE *f = fopen(path, "re");
	if (!f)
		return 'X';
	/* "12 (name) Z …": a name may hold anything */
	if (fgets(line, sizeof line, f))
		at = strrchr(line, ')');
	fclose(f);
	return at && at[1] == ' ' ? at[2] : '?';
}

/* Whether a thread has ended, and only its number is left. */
static bool has_ended(pid_t tid)
{
	return strchr("ZX", lbx_thread_state(tid));
}

/* Says who has a thread that cannot be stopped, or who may. */
static bool refuse(const struct lbx_hold *hold, pid_t tid, int why)
{
	char path[64], line[256], name[64] = "";
	int tracer = 0;

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	FILE *f = fopen(path, "re");
	while (f && !tracer && fgets(line, sizeof line, f))
		sscanf(line, "TracerPid: %d", &tracer);
	if (f)
		fclose(f);
	snprintf(path, sizeof path, "/proc/%d/comm", tracer);
	f = tracer ? fopen(path, "re") : NULL;
	if (f && fgets(name, sizeof name, f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
	lbx_make_printable(name);
	if (tracer)
		return lb_fail(
		    "thread %d of process %d belongs to a debugger, process %d%s%s%s: ask that one, or let it "
		    "detach",
		    (int)tid, (int)hold->pid, tracer, name[0] ? " (" : "", name, name[0] ? ")" : "");
	snprintf(path, sizeof path, "cannot stop thread %d of process %d", (int)tid, (int)hold->pid);
	return lbx_fail_permission(hold->pid, path, why);
}

/* A thread that has ended meanwhile is no error. */
static bool stop(struct lbx_hold *hold, pid_t tid, bool *is_new)
{
	struct user_regs_struct registers;
	struct iovec piece = { &registers, sizeof registers };
	int signal;

	*is_new = false;
	if (!make_room(hold))
		return false;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		int why = errno;
		if (why == ESRCH || has_ended(tid))
			return true;
		return refuse(hold, tid, why);
	}
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 || !wait_for(tid, &signal))
		return lb_ok();
	struct lbx_registers *r = &hold->threads.list[hold->threads.n];
	hold->signals[hold->threads.n++] = signal;
	*r = (struct lbx_registers){ .machine = lbx_machine(LBX_MACHINE) };
	if (r->machine && ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &piece) == 0 &&
	    piece.iov_len == sizeof registers)
		lbx_registers_decode(r->machine, &registers, r);
	r->tid = (uint64_t)tid;
	*is_new = true;
	return true;
}

/* One pass over the threads; *found: there were new ones. */
static bool stop_all(struct lbx_hold *hold, bool *found)
{
	char path[64];
	struct dirent *entry;
	bool is_new, done = true;

	snprintf(path, sizeof path, "/proc/%d/task", (int)hold->pid);
	DIR *folder = opendir(path);
	if (!folder)
		return lb_fail("cannot read %s: %s", path, strerror(errno));
	*found = false;
	while (done && (entry = readdir(folder))) {
		pid_t tid = (pid_t)atoi(entry->d_name);
		if (tid <= 0 || is_held(hold, tid))
			continue;
		done = stop(hold, tid, &is_new);
		*found |= is_new;
	}
	closedir(folder);
	return done;
}

struct lbx_hold *lbx_hold_start(pid_t pid)
{
	struct lbx_hold *hold = calloc(1, sizeof *hold);
	bool found = true, done = hold || lb_fail("out of memory");

	if (hold)
		hold->pid = pid;
	while (done && found)
		done = stop_all(hold, &found);
	if (done && hold->threads.n == 0)
		done = lb_fail("process %d has ended", (int)pid);
	if (!done) {
		lbx_hold_end(hold);
		return NULL;
	}
	return hold;
}

const struct lbx_threads *lbx_hold_threads(const struct lbx_hold *hold)
{
	return &hold->threads;
}

void lbx_hold_let_go(struct lbx_hold *hold)
{
	for (int i = hold->threads.n - 1; i >= 0 && !hold->is_over; i--)
		ptrace(PTRACE_DETACH, (pid_t)hold->threads.list[i].tid, NULL, (void *)(intptr_t)hold->signals[i]);
	hold->is_over = true;
}

void lbx_hold_end(struct lbx_hold *hold)
{
	if (!hold)
		return;
	lbx_hold_let_go(hold);
	free(hold->signals);
	free(hold->threads.list);
	free(hold);
}
