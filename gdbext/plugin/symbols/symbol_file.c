/* gdb reads an object of symbols bit by bit while it needs it, so a file is never changed: a new one
 * is loaded, then the old one removed, and deleted when the next comes. In this order watchpoints and
 * the like, which gdb reads again each time, find their variables at any moment. With the removed
 * file gdb drops its displays, so they are made again (displays.c).
 *
 * Under MI nothing is removed while the process lives: gdb 13 leaves floating variable objects (of
 * `-var-create NAME @ …`) with types that are gone, and crashes. There a new file holds only what
 * the loaded ones lack; gdb finds what it loaded first, so a name that is taken comes with the id.
 *
 * Both gdb commands forget the selected frame; `frame apply` puts it back. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/symbols/symbol_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/symbols/symbol_names.h"
#include "inspect/symbols/symbols.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/front_end.h"
#include "plugin/bridge/hooks.h"
#include "plugin/symbols/address_names.h"
#include "plugin/symbols/census.h"
#include "plugin/symbols/displays.h"
#include "target/private_folder.h"

enum { PATH = LBX_FOLDER_MAX + 32, FILES = 100 };

static struct {
	char directory[LBX_FOLDER_MAX]; /* "" before it is needed */
	pid_t owner;
	/* files by number, from 1: loaded are first … last, the older ones wait to be deleted */
	unsigned oldest, first, last;
	struct lbx_symbol_space space; /* of the loaded ones, under MI */
	char words[LBX_LINE_MAX]; /* of the command that has loaded them, to be repeated */
	struct lbx_census census;
	bool is_counted; /* the census is of all of them: the runtime's are the only ones */
	bool automatic;
} file = { .oldest = 1, .first = 1 };

static const char *path_of(unsigned number)
{
	static char path[PATH];

	snprintf(path, sizeof(path), "%s/%u.tensors", file.directory, number);
	return path;
}

static bool any_loaded(void)
{
	return file.first <= file.last;
}

static void delete_until(unsigned end)
{
	while (file.oldest < end)
		unlink(path_of(file.oldest++));
}

static void clean_up(void)
{
	if (getpid() != file.owner)
		return; /* a child that ends */
	delete_until(file.last + 1);
	rmdir(file.directory);
}

static bool make_directory(void)
{
	if (file.directory[0] && access(file.directory, W_OK) == 0)
		return true;
	if (!lbx_private_folder("symbols", file.directory))
		return false;
	if (!file.owner)
		atexit(clean_up);
	file.owner = getpid();
	return true;
}

static bool changed; /* what gdb reads, by the response so far */

bool lbx_symbol_file_take_changed(void)
{
	bool was = changed;

	changed = false;
	return was;
}

static void remove_until(struct lbx_context *context, unsigned end)
{
	delete_until(file.first);
	changed |= file.first < end;
	while (file.first < end)
		lbx_bridge_script("%s_lb_symbols_remove %s", context->target ? "frame apply level 0 -q -s -- " : "",
				  path_of(file.first++));
}

/* All but the last `but`. */
static void take_away(struct lbx_context *context, unsigned but)
{
	unsigned end = file.last + 1 - but;

	if (file.first == end)
		return;
	remove_until(context, end);
	lbx_displays_restore();
}

/* Whether those that are loaded may stay: of this process, under MI. */
static bool may_stay(struct lbx_context *context)
{
	struct lbx_census now;

	if (!lbx_front_end_speaks_mi() || !any_loaded() || !context->table)
		return lbx_front_end_speaks_mi();
	lbx_census_take(&now, context->table);
	return now.root == file.census.root && now.pid == file.census.pid;
}

static bool ready(struct lbx_context *context, struct lbx_symbol_space **ret)
{
	if (!lbx_hooks_ask())
		return false;
	*ret = lbx_front_end_speaks_mi() ? &file.space : NULL;
	file.space.stays = true;
	if (!may_stay(context)) {
		lbx_symbol_space_deinit(&file.space);
		file.space.stays = true;
		return !any_loaded() || lbx_displays_note();
	}
	if (file.last - file.first + 1 >= FILES)
		return lb_fail("symbols: %d files of symbols are loaded, which under MI cannot be "
			       "removed safely; start gdb again",
			       FILES);
	return true;
}

static bool is_loaded(const void *object, size_t n)
{
	int fd = any_loaded() ? open(path_of(file.last), O_RDONLY | O_CLOEXEC) : -1;
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

static void note_words(const struct lbx_context *context)
{
	if (context->words != file.words)
		snprintf(file.words, sizeof file.words, "%s", context->words);
}

static bool load(struct lbx_context *context, const void *object, size_t n)
{
	bool stay = may_stay(context);

	if (stay || !is_loaded(object, n)) {
		if (!make_directory() || !lbx_write_private(path_of(file.last + 1), object, n))
			return false;
		file.last++;
		changed = true;
		lbx_bridge_script("%s_lb_symbols_add %s",
				  context->target ? "frame apply level 0 -q -s -- _lb_framed " : "",
				  path_of(file.last));
		if (!stay)
			take_away(context, 1);
	}
	lbx_hooks_define();
	note_words(context);
	lbx_census_take(&file.census, context->table);
	file.is_counted = context->table && context->n_sets == 1;
	if (context->table && lbx_address_names_are_stale(context->table))
		lbx_symbol_file_reload_names();
	return true;
}

static bool unload(struct lbx_context *context, bool *ret)
{
	*ret = any_loaded();
	if (*ret && lbx_front_end_speaks_mi())
		return lb_fail("symbols: gdb may crash over floating variable objects of what is removed: "
			       "delete them, then `remove-symbol-file %s`",
			       path_of(file.first));
	take_away(context, 0);
	return true;
}

static bool at_stops(struct lbx_context *context, bool on)
{
	if (on && !lbx_hooks_ask())
		return false;
	if (lbx_bridge_waits())
		return false; /* all is done again */
	if (on && !lbx_hooks_reach_stops())
		return lb_fail("symbols: gdb has one hook-stop, and yours is there already: add the "
			       "line `_tensor_stopped` to it, and repeat this");
	if (on)
		lbx_hooks_define();
	if (on && !any_loaded())
		note_words(context);
	file.automatic = on;
	lbx_hooks_use_stops(LBX_STOPS_REFRESH, on);
	return true;
}

const struct lbx_debugger lbx_debugger_gdb = {
	.ready = ready,
	.load = load,
	.unload = unload,
	.at_stops = at_stops,
};

void lbx_symbol_file_reload_names(void)
{
	changed = true;
	/* within `frame apply`, which keeps the selected frame */
	lbx_bridge_script("frame apply level 0 -q -s _lb_framed _lb_reload 0");
}

static void say_nothing(struct lbx_out *out, const char *text, size_t n)
{
	(void)out;
	(void)text;
	(void)n;
}

bool lbx_symbol_file_begin(struct lbx_context *context)
{
	const char *watchpoints;

	if (!any_loaded())
		return true;
	if (!lbx_bridge_ask(&watchpoints, LBX_WITHOUT_FRAME, "info watchpoints"))
		return false;
	if (strncmp(watchpoints, "No watchpoints", 14) == 0)
		return true;
	remove_until(context, file.last + 1);
	lbx_symbol_space_deinit(&file.space);
	lbx_printf(context->out, "The tensors' variables are gone, because gdb may crash over a watchpoint on one "
				 "when a process begins. `tensor symbols` makes them again.\n");
	return true;
}

/* Runs the command again that has loaded the variables, and says nothing. */
static bool load_again(struct lbx_context *context)
{
	struct lbx_out quiet = { .width = 80, .write = say_nothing, .progress = context->out->progress };
	struct lbx_out *out = context->out;
	const char *words = context->words;
	struct lbx_args args;

	context->out = &quiet;
	context->words = file.words;
	bool ok =
	    lbx_args_parse_line(&lbx_command_symbols, file.words, &args) && lbx_command_symbols.run(context, &args);
	context->out = out;
	context->words = words;
	return ok;
}

bool lbx_symbol_file_refresh(struct lbx_context *context)
{
	struct lbx_tensors *tensors;

	if (!file.automatic || !context->target)
		return true;
	if (!lbx_context_tensors(context, &tensors)) {
		if (!lbx_bridge_waits())
			lb_clear_error(); /* they are not there yet */
		return true;
	}
	bool is_counted = file.is_counted && context->table && context->n_sets == 1;
	return (is_counted && !lbx_census_changed(&file.census, context->table)) || load_again(context);
}
