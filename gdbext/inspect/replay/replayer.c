#include "inspect/replay/replayer.h"

#include <unistd.h>

#include "inspect/near.h"
#include "inspect/replay/worker.h"
#include "replay/wire.h"

/* In the build's lib/ beside bin/, in an installed lib/…/ beside libexec/. */
static bool find_program(char path[PATH_MAX])
{
	static const char *const places[] = {
		"../bin/lazybones-replay",
		"lazybones-replay",
		"../libexec/lazybones/lazybones-replay",
		"../../libexec/lazybones/lazybones-replay",
		"../../../libexec/lazybones/lazybones-replay",
		NULL,
	};

	return lbx_find_near("LAZYBONES_REPLAY", places, X_OK, path);
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
