#include "plugin/commands/commands.h"

#include <string.h>

#include "base/error.h"
#include "plugin/stops/catch.h"
#include "plugin/stops/catch_stop.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/program.h"
#include "plugin/stops/step.h"
#include "plugin/symbols/symbol_file.h"

static bool run_hit(struct lbx_context *context, const char *words)
{
	lbx_symbol_file_refresh_then(words);
	if (strcmp(words, "start attached") == 0)
		return lbx_program_attach(context);
	if (strncmp(words, "start", 5) == 0)
		return lbx_program_start(context);
	return lbx_catch_hit(context, words);
}

static bool run_leave(struct lbx_context *context, const char *words)
{
	return lbx_program_leave(context, words);
}

static bool run_begin(struct lbx_context *context, const char *words)
{
	(void)words;
	/* all that has to be asked before anything is done */
	return lbx_catch_refresh() && lbx_symbol_file_begin(context) && lbx_step_begin() && lbx_program_begin();
}

static bool run_deleted(struct lbx_context *context, const char *words)
{
	bool changed;

	(void)words;
	return lbx_catch_deleted(context, &changed);
}

/* A script that gdb sources inside its hook-stop would run the commands of the breakpoints that were
 * hit, before gdb has told of the stop, and once more inside this when they continue. So then there is
 * none: an empty response. A catch's own command refreshes later. */
static bool run_stopped(struct lbx_context *context, const char *words)
{
	if (lbx_symbol_file_stop_has_commands())
		return true;
	return (!*words || lbx_program_attach(context)) && lbx_symbol_file_refresh(context);
}

static bool run_refresh(struct lbx_context *context, const char *words)
{
	return lbx_symbol_file_refresh_last(context, words);
}

static bool run_called(struct lbx_context *context, const char *words)
{
	(void)words;
	return lbx_eval_end(context);
}

static bool run_too_many_words(struct lbx_context *context, const char *words)
{
	(void)context;
	(void)words;
	return lb_fail("more words than gdb can pass on (16): leave out blanks in slices and expressions");
}

const struct lbx_line lbx_gdb_lines[] = {
	{ .name = LBX_HIT, .run = run_hit, .is_command = true, .selects_frame = true },
	{ .name = LBX_LEAVE, .run = run_leave, .is_command = true },
	{ .name = LBX_BEGIN, .run = run_begin, .is_command = true },
	{ .name = LBX_DELETED, .run = run_deleted, .is_command = true, .is_quiet = true },
	{ .name = LBX_STOPPED, .run = run_stopped, .as = "symbols", .is_quiet = true },
	{ .name = LBX_REFRESH, .run = run_refresh, .as = "symbols", .is_quiet = true },
	{ .name = LBX_CALL, .run = run_called, .as = "eval" },
	{ .name = LBX_TOO_MANY_WORDS, .run = run_too_many_words },
	{ .name = NULL },
};

const struct lbx_line *lbx_gdb_line(const char *name)
{
	for (const struct lbx_line *line = lbx_gdb_lines; line->name; line++)
		if (strcmp(line->name, name) == 0)
			return line;
	return NULL;
}
