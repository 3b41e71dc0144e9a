#define _GNU_SOURCE
#include "inspect/replay/replayer.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/replay/worker.h"
#include "replay/wire.h"

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
		"../bin/lazybones-replay",
		"lazybones-replay",
		"../libexec/lazybones/lazybones-replay",
		"../../libexec/lazybones/lazybones-replay",
		"../../../libexec/lazybones/lazybones-replay",
	};
	Dl_info info;
	char own[PATH_MAX];
	/* of the program itself the dynamic linker knows only argv[0] */
	if (!dladdr((void *)(uintptr_t)find_program, &info) ||
	    !realpath(strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe", own))
		return lb_fail("cannot tell where lazybones-replay is; name it in LAZYBONES_REPLAY");
	char *slash = strrchr(own, '/');
	*slash = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (snprintf(path, PATH_MAX, "%s/%s", own, places[i]) < PATH_MAX && access(path, X_OK) == 0)
			return true;
	}
	return lb_fail("there is no lazybones-replay near %s; name it in LAZYBONES_REPLAY", own);
}

bool lbx_replayer_run(struct lbx_out *out, int fd, int64_t seconds, const char *doing, const char *what)
{
	char path[PATH_MAX];
	char *argv[] = { (char *)"lazybones-replay", NULL };
	int status; /* the file tells what came of it */
	if (!find_program(path))
		return false;
	struct lbx_worker worker = { .path = path,
				     .argv = argv,
				     .fd = fd,
				     .as = LBX_WIRE_FD,
				     .doing = doing,
				     .what = what,
				     .seconds = seconds,
				     .more = "; raise the setting replay-seconds" };
	return lbx_worker_run(out, &worker, &status);
}
