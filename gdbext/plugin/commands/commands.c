#include "plugin/commands/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/draw/pixels.h"
#include "inspect/memory/points.h"
#include "inspect/name_index.h"
#include "inspect/show/since.h"
#include "plugin/bridge/answers.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/front_end.h"
#include "plugin/bridge/lines.h"
#include "plugin/commands/output.h"
#include "plugin/commands/session_trace.h"
#include "plugin/reads/lookup_gdb.h"
#include "plugin/reads/stacks_gdb.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/stops/breakpoints.h"
#include "plugin/stops/catch.h"
#include "plugin/stops/catches.h"
#include "plugin/symbols/address_names.h"
#include "plugin/symbols/symbol_file.h"
#include "target/cut.h"

/* These live as long as gdb. */
static struct lbx_settings settings;
static struct lbx_marked marked;
static struct lbx_memory_marks marks;
static struct lbx_kept kept;
static bool have_settings;

/* A line: one of the scripts' own, or a command's. */
struct job {
	char name[32];
	const char *words;
	const struct lbx_line *line;   /* or NULL */
	const struct lbx_command *row; /* likewise */
};

/* ---- what a row needs ---- */

static bool meet_needs(struct lbx_context *context, const struct lbx_command *command)
{
	if (!(command->needs & LBX_NEEDS_PROGRAM))
		return true;
	if (!lbx_context_program(context))
		return false;
	if (command->needs & LBX_NEEDS_LIVE) {
		enum lbx_liveness liveness = lbx_target_gdb_liveness();

		if (lbx_bridge_waits())
			return false;
		if (liveness == LBX_CORE)
			return lb_fail("a core file cannot run anything: `tensor peek` computes "
				       "values outside the program");
	}
	if (kept.has_many_tensors && !lbx_target_gdb_expect())
		return false;
	return lbx_command_open(context, command);
}

/* A terminal that is gdb's own: the TUI draws characters only. */
static bool shows_pixels(const struct lbx_out *out)
{
	const char *windows;

	return out->colour && lbx_terminal_pixels() != LBX_PIXELS_NONE && !lbx_front_end_speaks_mi() &&
	       lbx_bridge_ask(&windows, LBX_ANYWHERE, "info win") &&
	       (strstr(windows, "not active") || strstr(windows, "Undefined"));
}

/* Finds out what only gdb knows. *ret: the row is to be run now, not when gdb has read the response. */
static bool prepare(struct lbx_context *context, const struct job *job, bool *ret)
{
	unsigned needs = job->row->needs;
	bool changed = false;

	if ((needs & LBX_NEEDS_KIND) && context->target)
		lbx_target_gdb_liveness();
	if ((needs & LBX_NEEDS_CATCHES) && !lbx_catch_deleted(context, &changed) && lbx_bridge_waits())
		return false;
	if (changed)
		lbx_bridge_then("%s %s", job->name, job->words);
	if (needs & LBX_NEEDS_PIXELS)
		context->out->pixels = shows_pixels(context->out);
	*ret = !changed;
	return true;
}

/* Whether all is known of the program that a row which writes a file will ask first. Else it would write now, and find
 * that file in its way when it runs again with gdb's answers. */
static bool is_known(struct lbx_context *context, const struct lbx_command *row)
{
	struct lbx_tensors *tensors;
	bool clean = lb_ok();

	if (context->target && (row->needs & LBX_NEEDS_PROGRAM))
		lbx_context_tensors(context, &tensors);
	if (clean)
		lb_clear_error(); /* there may be none, and memory be meant */
	return !lbx_bridge_waits();
}

/* ---- running a line ---- */

/* Those that the user may look at next. Who asks what is at addresses has them, and asks at each step. */
static bool tells_addresses(const struct lbx_command *row, const struct lbx_args *args)
{
	return (row->needs & LBX_GIVES_ADDRESSES) && !lbx_args_option(args, "handles");
}

/* Of a line that is wrong before its last word. */
static bool ends_with_json(const char *words)
{
	static const char option[] = " --json";
	size_t n = strlen(words);

	while (n && words[n - 1] == ' ')
		n--;
	return n >= sizeof option - 1 && strncmp(words + n - (sizeof option - 1), option, sizeof option - 1) == 0;
}

static bool run_row(struct lbx_context *context, const struct job *job)
{
	struct lbx_args args;
	bool now;

	if (!prepare(context, job, &now))
		return false;
	if (!now)
		return true;
	bool parsed = lbx_args_parse_line(job->row, job->words, &args);
	context->out->json = lbx_args_option(&args, "json") || (!parsed && ends_with_json(job->words));
	if (!parsed || !meet_needs(context, job->row))
		return false;
	if (lbx_args_name_a_file(&args) && !is_known(context, job->row))
		return false;
	if (!job->row->run(context, &args) || !lbx_command_end(context, job->row))
		return false;
	if (tells_addresses(job->row, &args) && context->table && lbx_address_names_are_stale(context->table))
		lbx_symbol_file_reload_names();
	return true;
}

static bool run(struct lbx_context *context, const struct job *job)
{
	if (job->line)
		return job->line->run(context, job->words);
	if (!lbx_session_trace_look(context))
		return false;
	if (!job->row)
		return lbx_gdb_command_fail(job->name);
	return run_row(context, job);
}

/* "+--limit =3" was "--limit=3"; "-3" was "--json -3". */
static const char *join_option(const char *words)
{
	static char joined[LBX_BRIDGE_LINE];
	const bool is_alias = *words == *LBX_OPTION_FIRST;
	const char *rest = words + strcspn(words, " ");

	if (is_alias)
		words++;
	if (!is_alias)
		snprintf(joined, sizeof joined, LBX_OPTION_COMMAND "%s%s", *words && *words != '=' ? " " : "", words);
	else if (*rest && rest[1] == '=')
		snprintf(joined, sizeof joined, "%.*s%s", (int)(rest - words), words, rest + 1);
	else
		return words;
	return joined;
}

static struct lbx_pointer told[LBX_TOLD_MOST];
static int n_told;

/* In front of a line of a program that drives gdb stands what it knows of pointers: "*next=0x5581=lb_tensor+*". */
static const char *take_told(const char *text)
{
	char name[128], type[128];
	uint64_t value;
	int used = 0;

	n_told = 0;
	while (sscanf(text, "*%127[^= ]=%" SCNx64 "=%127[^ ] %n", name, &value, type, &used) == 3 && used) {
		for (char *c = type; (c = strchr(c, '+'));)
			*c = ' ';
		lbx_gdb_tell_pointer(name, type, value);
		if (n_told < LBX_TOLD_MOST) {
			told[n_told] = (struct lbx_pointer){ .value = value };
			snprintf(told[n_told++].expression, sizeof told->expression, "%s", name);
		}
		text += used;
		used = 0;
	}
	return text;
}

static struct job take_line(const char *text)
{
	struct job job = { .words = "" };
	text = take_told(text);
	size_t n = strcspn(text, " ");

	snprintf(job.name, sizeof job.name, "%.*s", (int)n, text);
	if (text[n])
		job.words = text + n + 1;
	char *first = strstr(job.name, LBX_OPTION_FIRST);
	if (first) {
		*first = '\0';
		job.words = join_option(job.words);
	}
	job.line = lbx_gdb_line(job.name);
	job.row = job.line ? NULL : lbx_gdb_command(job.name);
	return job;
}

/* No silent limit. */
static void tell_lack(struct lbx_out *out)
{
	if (!lbx_bridge_lacks())
		return;
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_WARNING,
		   "Some source lines or variables are missing here: gdb would have to be asked "
		   "too many questions.");
	lbx_printf(out, "\n");
}

static void tell_end(struct lbx_context *context, const struct job *job, bool ok)
{
	if (ok) {
		lbx_tell_notice(context->out, context->target);
		tell_lack(context->out);
	} else {
		lb_fail_because(LB_INTERRUPTED, "interrupted"); /* unless there is an error already */
		if (!lbx_abandon(context->out, lb_error_message()))
			lbx_gdb_out_failure(context->out, job->line ? job->line->as : job->name);
	}
	bool told = lbx_gdb_out_end();
	if (lbx_symbol_file_take_changed())
		lbx_bridge_script("_lb_look");
	/* each time: where the user interrupts gdb, it may not have read the last one */
	if (!ok || !told)
		lbx_bridge_script("set $tensor_failed = %d", !ok);
}

void lbx_commands_run(const char *line)
{
	lbx_bridge_read *read = lbx_bridge_reader();
	const struct job job = take_line(line);
	struct lbx_out out = lbx_gdb_out(job.row != NULL);
	struct lbx_context context = {
		.target = read ? lbx_target_gdb(read) : NULL,
		.stacks = read ? lbx_stacks_gdb() : NULL,
		.all_stacks = read ? lbx_stacks_gdb_all() : NULL,
		.out = &out,
		.prefix = "tensor ",
		.words = job.words,
		.settings = &settings,
		.marks = &marks,
		.marked = &marked,
		.kept = &kept,
		.debugger = &lbx_debugger_gdb,
		.catches = lbx_catches_tell,
		.told = told,
		.n_told = n_told,
	};

	if (!have_settings)
		settings = lbx_default_settings;
	have_settings = true;
	lb_clear_error();
	if (job.row)
		lbx_session_trace_listen(&out);
	lbx_symbol_file_take_changed();
	bool ok = run(&context, &job);
	lbx_context_close(&context);
	lbx_gdb_out_erase();
	if (lbx_bridge_waits() && !lbx_bridge_interrupted()) {
		lbx_abandon(&out, NULL);
		lb_clear_error();
		return;
	}
	if (lbx_bridge_waits() && !lbx_cut_seen())
		lb_clear_error(); /* interrupted: what it has asked for might have made it another */
	if (!job.row || !(job.row->needs & LBX_CALLS_PROGRAM))
		lbx_breakpoints_resume();
	if (!ok || !job.line || !job.line->is_quiet)
		tell_end(&context, &job, ok && !lbx_bridge_waits());
	if (job.row)
		lbx_session_trace_add(job.name, job.words, ok);
	lbx_answers_end();
	lbx_name_index_age(&kept); /* also of a command that was interrupted */
	lb_clear_error();
}
