/* A core costs time to open: it stays open until gdb has another, or one of its options changes. */
#include "plugin/reads/core_gdb.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "lazybones.h"
#include "plugin/bridge/bridge.h"
#include "plugin/reads/open_files.h"
#include "plugin/reads/standing.h"
#include "target/core.h"

enum { PATH_SIZE = 4096 };

static struct {
	struct stat file;
	char exe[PATH_SIZE], sysroot[PATH_SIZE];
	struct lbx_target *target;
	bool refused; /* it cannot be read: not tried again */
} held;

/* Of the command that runs. */
static struct {
	bool looked, has_open;
	struct lbx_target *core;
} now;

void lbx_core_gdb_begin(void)
{
	char unused[16];

	memset(&now, 0, sizeof(now));
	if (held.target)
		lbx_target_notice(held.target, unused, sizeof(unused)); /* of a command that failed */
}

static struct lbx_target *open_core(const char *path, const char *exe, const char *sysroot)
{
	struct lbx_core_options options = {
		.exe = held.exe,
		.sysroot = held.sysroot,
		.advice = "if it is elsewhere now: `set sysroot DIR`, or `set solib-search-path DIR`",
	};
	struct stat st;

	if (stat(path, &st) != 0)
		return NULL;
	if ((held.target || held.refused) && lbx_is_same_file(&held.file, &st) &&
	    (!exe || (strcmp(exe, held.exe) == 0 && strcmp(sysroot, held.sysroot) == 0)))
		return held.target;
	lbx_target_destroy(held.target);
	held.target = NULL;
	held.file = st;
	snprintf(held.exe, sizeof(held.exe), "%s", exe ? exe : "");
	snprintf(held.sysroot, sizeof(held.sysroot), "%s", sysroot ? sysroot : "");
	if (!held.exe[0])
		options.exe = NULL;
	if (!held.sysroot[0])
		options.sysroot = NULL;
	bool clean = lb_ok();
	held.refused = !lbx_core_open(path, &options, &held.target);
	if (held.refused) {
		held.target = NULL;
		if (clean)
			lb_clear_error(); /* gdb itself can read it */
	}
	return held.target;
}

static void look(void)
{
	char path[64];
	int fd, n = lbx_open_cores(&fd);

	now.looked = true;
	now.has_open = n > 0;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (n == 1)
		now.core = open_core(path, NULL, NULL);
}

bool lbx_core_gdb_has_open(struct lbx_target **ret)
{
	if (!now.looked)
		look();
	*ret = now.core;
	return now.has_open;
}

/* What stands between a title and a quote. */
static bool take_quoted(const char *text, const char *title, char quote, char *ret, size_t size)
{
	const char *begin = text ? strstr(text, title) : NULL;
	const char *end = begin ? strchr(begin += strlen(title), quote) : NULL;

	*ret = '\0';
	if (!end || (size_t)(end - begin) >= size)
		return false;
	snprintf(ret, size, "%.*s", (int)(end - begin), begin);
	return true;
}

static struct lbx_target *core_of(const char *files)
{
	const char *local = "target:";
	char path[PATH_SIZE], exe[PATH_SIZE], sysroot[PATH_SIZE];

	const char *stack = lbx_standing_answer("maintenance print target-stack");
	if (stack && strstr(stack, "record")) /* gdb plays what it has recorded: memory may be of another moment */
		return NULL;
	if (!take_quoted(files, "Local core dump file:\n\t`", '\'', path, sizeof(path)))
		return NULL;
	take_quoted(files, "Local exec file:\n\t`", '\'', exe, sizeof(exe));
	snprintf(sysroot, sizeof(sysroot), "%s", lbx_bridge_sysroot());
	if (strncmp(sysroot, local, strlen(local)) == 0)
		memmove(sysroot, sysroot + strlen(local), strlen(sysroot + strlen(local)) + 1);
	now.core = open_core(path, exe, sysroot);
	now.looked = now.has_open = true;
	return now.core;
}

struct lbx_target *lbx_core_of_gdb(void)
{
	const char *files;

	return lbx_standing_ask(&files, "info files") ? core_of(files) : NULL;
}

struct lbx_target *lbx_core_gdb_known(void)
{
	const char *files = lbx_standing_answer("info files");

	return files ? core_of(files) : NULL;
}

/* "\t0x00007f… - 0x00007f… is .text in /lib/…": of the core itself the name is "load1". */
bool lbx_core_gdb_has_section(uint64_t address, uint64_t *ret_bytes)
{
	const char *files;

	if (!lbx_bridge_ask(&files, LBX_ANYWHERE, "info files"))
		return false;
	for (const char *line = files; line; line = strchr(line, '\n')) {
		unsigned long long start, end;
		char name[64];

		line += *line == '\n';
		if (sscanf(line, " %llx - %llx is %63s", &start, &end, name) != 3 || name[0] != '.' ||
		    strcmp(name, ".bss") == 0 || address < start || address >= end)
			continue;
		*ret_bytes = end - address;
		return true;
	}
	return false;
}
