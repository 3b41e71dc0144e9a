#include "plugin/reads/debug_info.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "lazybones.h"
#include "plugin/bridge/bridge.h"
#include "plugin/reads/core_gdb.h"
#include "plugin/reads/standing.h"
#include "plugin/reads/target_gdb.h"
#include "target/core.h"
#include "target/loader.h"

enum { PATH = 4096 };

/* Of the process that was looked at last, until it has loaded more. */
static struct {
	struct lbx_lines *lines;
	uint64_t pid, loaded;
	char program[PATH]; /* of a remote one */
} kept;

static void forget(void)
{
	lbx_lines_destroy(kept.lines);
	kept.lines = NULL;
}

static struct lbx_lines *lines_of_process(uint64_t pid, uint64_t loaded)
{
	if (kept.lines && kept.pid == pid && kept.loaded == loaded)
		return kept.lines;
	forget();
	kept.pid = pid;
	kept.loaded = loaded;
	kept.program[0] = '\0';
	return kept.lines = lbx_lines_of_process((pid_t)pid);
}

/* The program's own file, as gdb has it: those of its libraries may be on another machine. */
static struct lbx_lines *lines_of_remote(struct lbx_target *target, const char *files, uint64_t loaded)
{
	static const char title[] = "Symbols from \"";
	struct lbx_loader loader;
	uint64_t headers, n;
	char program[PATH];

	if (strncmp(files, title, sizeof title - 1) != 0 || !lbx_target_headers(target, &headers, &n))
		return NULL;
	files += sizeof title - 1;
	snprintf(program, sizeof program, "%.*s", (int)strcspn(files, "\"\n"), files);
	if (kept.lines && kept.loaded == loaded && strcmp(kept.program, program) == 0)
		return kept.lines;
	forget();
	lbx_loader_begin(&loader, target, headers, n);
	snprintf(kept.program, sizeof kept.program, "%s", program);
	kept.loaded = loaded;
	kept.pid = 0;
	return kept.lines = lbx_lines_of_program(program, loader.program.bias);
}

/* What it takes is asked at once, though not all of it is of use for each kind of program. */
struct lbx_lines *lbx_debug_info_gdb(struct lbx_target *target)
{
	struct lbx_target *core = NULL;
	struct lbx_lines *lines = NULL;
	uint64_t pid = 0, loaded = 0;
	const char *files = "";
	bool clean = lb_ok();

	enum lbx_liveness liveness = lbx_target_gdb_liveness();
	bool is_loaded = lbx_target_loaded(target, &loaded);
	if (liveness == LBX_UNKNOWN)
		lbx_standing_ask(&files, "info proc");
	if (liveness == LBX_LIVE && target->ops->pid(target, &pid) && is_loaded)
		lines = lines_of_process(pid, loaded);
	if (liveness == LBX_REMOTE && lbx_bridge_ask(&files, LBX_ANYWHERE, "info files") && is_loaded)
		lines = lines_of_remote(target, files, loaded);
	if (liveness == LBX_CORE)
		core = lbx_core_of_gdb();
	if (core)
		lines = lbx_core_lines(core);
	if (clean)
		lb_clear_error();
	return lines;
}
