#define _GNU_SOURCE
#include "inspect/worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "replay/wire.h"

enum { TICK_MS = 100 };

extern char **environ;

/* The program lies near whatever holds this code: the build's lib/ beside bin/, an installed
 * lib/…/ beside libexec/. LAZYBONES_REPLAY names another. */
static bool find_program(char path[PATH_MAX])
{
	const char *named = getenv("LAZYBONES_REPLAY");
	if (named && *named) {
		if (access(named, X_OK) != 0)
			return lb_fail("LAZYBONES_REPLAY=%s cannot be run", named);
		snprintf(path, PATH_MAX, "%s", named);
		return true;
	}
	static const char *const places[] = {
		"../bin/lazybones-replay", "lazybones-replay", "../libexec/lazybones/lazybones-replay",
		"../../libexec/lazybones/lazybones-replay", "../../../libexec/lazybones/lazybones-replay",
	};
	Dl_info info;
	char own[PATH_MAX];
	if (!dladdr((void *)(uintptr_t)find_program, &info) || !realpath(info.dli_fname, own))
		return lb_fail("cannot tell where lazybones-replay is; name it in LAZYBONES_REPLAY");
	char *slash = strrchr(own, '/');
	*slash = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (snprintf(path, PATH_MAX, "%s/%s", own, places[i]) < PATH_MAX && access(path, X_OK) == 0)
			return true;
	}
	return lb_fail("there is no lazybones-replay near %s; name it in LAZYBONES_REPLAY", own);
}

/* The child gets the graph, the write end of a pipe that tells when it has ended, and neither the
 * terminal nor the debugger's signal dispositions. */
static bool start(const char *path, int fd, int alive, pid_t *ret)
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
	posix_spawn_file_actions_adddup2(&actions, fd, 200);
	posix_spawn_file_actions_adddup2(&actions, alive, 201);
	posix_spawn_file_actions_adddup2(&actions, 200, LBX_WIRE_FD);
	posix_spawn_file_actions_addclose(&actions, 200);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setpgroup(&attributes, 0);
	char *argv[] = { (char *)"lazybones-replay", NULL };
	int error = posix_spawn(ret, path, &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return error == 0 || lb_fail("cannot start %s: %s", path, strerror(error));
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for the pipe to be closed; kills the child when time is up or the user interrupts. */
static bool watch(struct lbx_out *out, pid_t pid, int closed, int64_t seconds)
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
		ok = lbx_progress(out, "replaying", elapsed / 1000, seconds);
		if (ok && elapsed > seconds * 1000)
			ok = lb_fail("the replay took more than %lld seconds; raise the setting "
				     "replay-seconds", (long long)seconds);
		if (!ok)
			kill(pid, SIGKILL);
	}
}

bool lbx_worker_run(struct lbx_out *out, int fd, int64_t seconds)
{
	char path[PATH_MAX];
	int ends[2];
	pid_t pid;
	if (!find_program(path))
		return false;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return lb_fail("cannot watch the replay: %s", strerror(errno));
	bool started = start(path, fd, ends[1], &pid);
	close(ends[1]);
	bool ok = started && watch(out, pid, ends[0], seconds);
	close(ends[0]);
	if (!started)
		return false;
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (ok && WIFSIGNALED(status))
		return lb_fail("the replay died of signal %d (%s)%s", WTERMSIG(status),
			       strsignal(WTERMSIG(status)),
			       WTERMSIG(status) == SIGXCPU ? "; raise the setting replay-seconds" : "");
	return ok;
}
