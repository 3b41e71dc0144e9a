/* gdb reads an object of symbols bit by bit while it needs it, so a file is never changed: a new one
 * is loaded, then the old one removed, and deleted when the next comes. In this order watchpoints and
 * the like, which gdb reads again each time, find their variables at any moment. With the removed file
 * gdb drops its displays, so they are made again (displays.c).
 *
 * Both gdb commands forget the selected frame; `frame apply` puts it back. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/symbol_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/symbols.h"
#include "plugin/address_names.h"
#include "plugin/bridge.h"
#include "plugin/census.h"
#include "plugin/displays.h"

enum { DIRECTORY = 256, PATH = DIRECTORY + 32 };

static struct {
	char directory[DIRECTORY]; /* "" before it is needed */
	pid_t owner;
	unsigned serial;
	char path[PATH], old[PATH]; /* loaded; loaded before that; or "" */
	char words[LBX_LINE_MAX], loaded_words[LBX_LINE_MAX];
	struct lbx_census census;
	bool automatic, hooked;
} file;

static void clean_up(void)
{
	if (getpid() != file.owner)
		return; /* a child that ends */
	unlink(file.path);
	unlink(file.old);
	rmdir(file.directory);
}

/* gdb takes file names apart at blanks and quotes. */
static bool is_plain(const char *path)
{
	return path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+")] ==
	       '\0';
}

static bool make_directory(void)
{
	const char *where = getenv("TMPDIR");

	if (file.directory[0] && access(file.directory, W_OK) == 0)
		return true;
	if (!where || *where != '/' || strlen(where) > DIRECTORY / 2 || !is_plain(where))
		where = "/tmp";
	snprintf(file.directory, sizeof(file.directory), "%s/lazybones-XXXXXX", where);
	if (!mkdtemp(file.directory)) {
		file.directory[0] = '\0';
		return lb_fail("symbols: cannot make a directory in %s: %s", where, strerror(errno));
	}
	if (!file.owner)
		atexit(clean_up);
	file.owner = getpid();
	return true;
}

static void script(struct lbx_context *context, const char *command, const char *path)
{
	lbx_bridge_script("%s%s %s", context->target ? "frame apply level 0 -q -c -- " : "", command, path);
}

static void take_away(struct lbx_context *context)
{
	if (!file.path[0])
		return;
	script(context, "_lb_symbols_remove", file.path);
	lbx_displays_restore();
	unlink(file.old);
	strcpy(file.old, file.path);
	file.path[0] = '\0';
}

static bool ready(struct lbx_context *context)
{
	(void)context;
	return !file.path[0] || lbx_displays_note();
}

static bool is_loaded(const void *object, size_t n)
{
	int fd = file.path[0] ? open(file.path, O_RDONLY | O_CLOEXEC) : -1;
	struct stat st;
	bool same = false;
	void *map;

	if (fd >= 0 && fstat(fd, &st) == 0 && (size_t)st.st_size == n) {
		map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
		same = map != MAP_FAILED && memcmp(map, object, n) == 0;
		if (map != MAP_FAILED)
			munmap(map, n);
	}
	if (fd >= 0)
		close(fd);
	return same;
}

static bool load(struct lbx_context *context, const void *object, size_t n)
{
	char path[PATH];

	if (!is_loaded(object, n)) {
		if (!make_directory())
			return false;
		snprintf(path, sizeof(path), "%s/%u.tensors", file.directory, ++file.serial);
		if (!lbx_write_private(path, object, n))
			return false;
		script(context, "_lb_symbols_add", path);
		take_away(context);
		strcpy(file.path, path);
	}
	strcpy(file.loaded_words, file.words);
	lbx_census_take(&file.census, context->table);
	if (lbx_address_names_are_stale(context->table))
		lbx_symbol_file_reload_names();
	return true;
}

static void unload(struct lbx_context *context, bool *ret)
{
	*ret = file.path[0];
	take_away(context);
}

/* gdb runs one command before each stop, of a fixed name; a user may have it already. Ours stays once
 * it is there: gdb asks before it lets go of a command. */
static bool at_stops(struct lbx_context *context, bool on)
{
	const char *hook;

	(void)context;
	if (on && !file.hooked) {
		if (!lbx_bridge_ask(&hook, LBX_WITHOUT_FRAME, "complete hook-stop"))
			return false;
		if (strncmp(hook, "hook-stop", 9) == 0)
			return lb_fail("symbols: gdb has one hook-stop, and yours is there already: add the "
				       "line `_tensor_stopped` to it, and repeat this");
		lbx_bridge_script("define hook-stop\n_tensor_stopped\nend");
		file.hooked = true;
	}
	if (on && !file.path[0])
		strcpy(file.loaded_words, file.words);
	file.automatic = on;
	return true;
}

const struct lbx_debugger lbx_debugger_gdb = {.ready = ready, .load = load, .unload = unload, .at_stops = at_stops};

void lbx_symbol_file_words(const char *words)
{
	snprintf(file.words, sizeof(file.words), "%s", words);
}

void lbx_symbol_file_reload_names(void)
{
	/* within `frame apply`, which keeps the selected frame */
	lbx_bridge_script("frame apply level 0 -q -s _tensor_reload");
}

static void say_nothing(struct lbx_out *out, const char *text, size_t n)
{
	(void)out;
	(void)text;
	(void)n;
}

bool lbx_symbol_file_stopped(struct lbx_context *context)
{
	struct lbx_out quiet = {.width = 80, .write = say_nothing, .progress = context->out->progress};
	struct lbx_context again = *context;
	struct lbx_table *table;
	struct lbx_args args;

	if (!file.automatic || !context->target)
		return true;
	if (!lbx_context_table(context, &table)) {
		if (!lbx_bridge_waits())
			lb_clear_error(); /* the runtime is not there yet */
		return true;
	}
	if (!lbx_census_changed(&file.census, table))
		return true;
	again.out = &quiet;
	again.table = table;
	strcpy(file.words, file.loaded_words);
	return lbx_args_parse(lbx_command_find(lbx_commands, "symbols"), file.words, &args) &&
	       lbx_run_symbols(&again, &args);
}
