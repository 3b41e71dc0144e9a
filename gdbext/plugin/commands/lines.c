#include "plugin/commands/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/files.h"
#include "plugin/bridge/front_end.h"
#include "plugin/bridge/hooks.h"
#include "plugin/commands/display.h"
#include "plugin/reads/stacks_gdb.h"
#include "plugin/commands/session_trace.h"
#include "plugin/stops/catch.h"
#include "plugin/stops/catch_stop.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/follow.h"
#include "plugin/stops/program.h"
#include "plugin/stops/hits.h"
#include "plugin/stops/step.h"
#include "plugin/stops/stop_commands.h"
#include "plugin/symbols/symbol_file.h"

static bool stands; /* after what was hit last */

/* LBX_REFRESH follows for what was hit ("3,0x11,…"), if that is wanted. */
static bool run_hit(struct lbx_context *context, const char *words)
{
	if (lbx_hooks_use_any_stop())
		lbx_bridge_then(LBX_REFRESH " %.*s", (int)strcspn(words, " ,"), words);
	stands = false;
	if (strcmp(words, "start attached") == 0)
		return lbx_program_attach(context);
	if (strncmp(words, "start", 5) == 0)
		return lbx_program_start(context);
	bool ok = lbx_catch_hit(context, words);
	stands = lbx_catch_stands();
	if (!lbx_bridge_waits() && (!ok || stands))
		lbx_follow_settle(true);
	return ok;
}

static bool run_leave(struct lbx_context *context, const char *words)
{
	return lbx_session_trace_look(context) && lbx_program_leave(context, words);
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

/* The frame that gdb's word for the stop is to be of: at one of our breakpoints the program's own. */
static void tell_level(void)
{
	const char *frames, *libraries;
	char level[12];

	if (!lbx_front_end_shows_stops())
		return;
	bool ours = lbx_stop_is_ours() && lbx_bridge_ask(&frames, LBX_WITHOUT_FRAME, LBX_STOP_FRAMES) &&
		    lbx_bridge_ask(&libraries, LBX_WITHOUT_FRAME, LBX_STOP_LIBRARIES);
	int n = snprintf(level, sizeof level, "%d", ours ? lbx_stacks_gdb_own_level(frames, libraries) : 0);
	lbx_file_write(LBX_LEVEL_FD, level, (size_t)n);
}

/* What the user wants to see wherever the program stops. */
static bool show(struct lbx_context *context)
{
	if (!lbx_displays_show(context) || lbx_bridge_waits())
		return false;
	lbx_follow_show(context);
	return true;
}

/* A script that gdb sources inside its hook-stop would run the commands of the breakpoints that were
 * hit, before gdb has told of the stop, and once more inside this when they continue. So then there is
 * none: an empty response. A catch's own command refreshes later. */
static bool run_stopped(struct lbx_context *context, const char *words)
{
	if (lbx_bridge_is_new())
		lbx_session_trace_has_stopped();
	/* where a catch's condition decides, the program mostly goes on without a word */
	bool ours = lbx_stop_is_ours();
	lbx_follow_settle(!ours && !lbx_bridge_waits());
	tell_level();
	if (lbx_stop_has_commands())
		return true;
	return lbx_session_trace_look(context) && (!*words || lbx_program_attach(context)) &&
	       lbx_symbol_file_refresh(context) && show(context);
}

static bool run_refresh(struct lbx_context *context, const char *words)
{
	bool is_last;

	if (!lbx_hooks_use_any_stop())
		return true;
	if (!lbx_stop_commands_end(words, &is_last))
		return false;
	if (!is_last)
		return true;
	if (!lbx_symbol_file_refresh(context))
		return false;
	return !stands || (lbx_session_trace_look(context) && show(context));
}

static bool run_trace(struct lbx_context *context, const char *words)
{
	(void)words;
	return lbx_session_trace_begin(context);
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
	return lb_fail("more words than gdb can pass on (%d): leave out blanks in slices and expressions",
		       LBX_MAX_WORDS);
}

const struct lbx_line lbx_gdb_lines[] = {
	{ .name = LBX_HIT, .run = run_hit, .is_command = true, .selects_frame = true },
	{ .name = LBX_LEAVE, .run = run_leave, .is_command = true },
	{ .name = LBX_BEGIN, .run = run_begin, .is_command = true },
	{ .name = LBX_DELETED, .run = run_deleted, .is_command = true, .is_quiet = true },
	{ .name = LBX_STOPPED, .run = run_stopped, .as = "symbols", .is_quiet = true },
	{ .name = LBX_REFRESH, .run = run_refresh, .as = "symbols", .is_quiet = true },
	{ .name = LBX_TRACE, .run = run_trace, .is_command = true },
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
