#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/stops/probes.h"

#include <string.h>

#include "base/error.h"
#include "plugin/bridge/bridge.h"

static bool knows_probes(void)
{
	const char *probes;

	return !lbx_bridge_ask(&probes, LBX_WITHOUT_FRAME, "info probes stap lazybones ^graph_start$") ||
	       !strstr(probes, "No probes matched");
}

/* Libraries other than the loader, which is there before all. */
static bool has_libraries(void)
{
	const char *at, *end;
	bool any = false;

	if (!lbx_bridge_ask(&at, LBX_WITHOUT_FRAME, "info sharedlibrary"))
		return false;
	for (; *at && !any; at = end + (*end == '\n')) {
		end = at + strcspn(at, "\n");
		const char *slash = memrchr(at, '/', (size_t)(end - at));
		any = slash && strncmp(slash, "/ld-", 4) != 0 && strncmp(slash, "/ld64", 5) != 0;
	}
	return any;
}

/* A program without a loader: what it has not got, it will not get. */
static bool is_static(void)
{
	const char *files;

	return lbx_bridge_ask(&files, LBX_WITHOUT_FRAME, "info files") && strstr(files, "Entry point: ") &&
	       !strstr(files, " is .interp");
}

bool lbx_probes_lack_runtime(void)
{
	bool libraries = has_libraries(), alone = is_static(), known = knows_probes();

	return (libraries || alone) && !known;
}

bool lbx_probes_exist(void)
{
	bool known = knows_probes();

	if (lbx_bridge_waits())
		return false;
	return known || lb_fail("catches and steps need the runtime's probes, and gdb knows none: it was built "
				"without (PROBES=0), or gdb has not read its file (`info sharedlibrary`)");
}

/* "Symbols from \"/usr/bin/python3.11\"." */
bool lbx_probes_are_of_python(void)
{
	static const char title[] = "Symbols from \"";
	const char *files;

	if (!lbx_bridge_ask(&files, LBX_WITHOUT_FRAME, "info files") || strncmp(files, title, sizeof title - 1) != 0)
		return false;
	const char *path = files + sizeof title - 1;
	const char *name = memrchr(path, '/', strcspn(path, "\n"));
	return strncmp(name ? name + 1 : path, "python", 6) == 0;
}
