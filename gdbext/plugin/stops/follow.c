/* The runtime's own log of values (runtime/eval/journal.h) goes into a pipe of gdb's: the program stops at no evaluation, and
 * none is missed. So this follows what our runtime computes, and nothing of others. */
#include "plugin/stops/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/answer.h"
#include "inspect/operand/by_name.h"
#include "inspect/operand/object.h"
#include "inspect/trace/log_pipe.h"
#include "inspect/trace/log_switch.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/hooks.h"
#include "plugin/command.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/stops/breakpoints.h"
#include "plugin/stops/follow_reader.h"
#include "plugin/stops/guests.h"
#include "plugin/stops/probes.h"
#include "plugin/stops/switches.h"

bool lbx_follow_waits(void)
{
	return lbx_follow_reader_now() != NULL;
}

static bool begin_log(struct lbx_context *context, const struct lbx_root *root, const struct lbx_follower *f)
{
	uint64_t pid; /* of the process that is there, as this machine numbers it */

	if (!context->target->ops->pid(context->target, &pid))
		pid = root->pid;
	if (!lbx_log_pipe_reaches((pid_t)pid))
		return false;
	lbx_follow_reader_expect((pid_t)pid);
	return lbx_log_begin(context->target, root, lbx_target_write, f->names, lbx_follow_reader_path());
}

bool lbx_follow_put(struct lbx_context *context, const struct lbx_root *root)
{
	const struct lbx_follower *f = lbx_follow_reader_now();

	if (!f || begin_log(context, root, f) || lbx_bridge_waits())
		return !lbx_bridge_waits();
	lbx_wrap(context->out, 0, 4);
	lbx_printf(context->out, "%s is not followed here: %s.\n", f->names, lb_error_message());
	lb_clear_error();
	return true;
}

bool lbx_follow_take_back(struct lbx_context *context, const struct lbx_root *root)
{
	if (lbx_follow_reader_now() && root->log_at)
		return lbx_log_end(context->target, root, lbx_target_write, lbx_follow_reader_path());
	return true;
}

void lbx_follow_settle(bool ends)
{
	lbx_follow_reader_settle(ends);
}

static void show(struct lbx_out *out, const struct lbx_follower *f)
{
	lbx_follower_draw(f, out);
	lbx_printf(out, "\n");
}

void lbx_follow_show(struct lbx_context *context)
{
	if (lbx_follow_reader_is_owed())
		show(context->out, lbx_follow_reader_now());
}

/* ---- the command ---- */

/* What the program computes that is none of our runtime's has no log. */
static bool refuse_others(struct lbx_context *context, const enum lbx_nodes_there there[LBX_GUESTS], const char *names)
{
	struct lbx_tensors *tensors;

	for (int i = 0; lbx_guest(i); i++)
		if (there[i] == LBX_NODES_THERE)
			return lb_fail(
			    "follow: this reads the log of Lazybones' own runtime, which the program has not; at "
			    "%s's %s `tensor catch eval '%s'` stops, where `tensor display '%s'` shows it",
			    lbx_guest(i)->name, lbx_guest(i)->by_evaluation ? "arrays" : "nodes", names, names);
	if (!lbx_context_tensors(context, &tensors)) {
		if (!lbx_bridge_waits())
			lb_clear_error();
		return !lbx_bridge_waits();
	}
	return lb_fail("follow: this reads the log of Lazybones' own runtime, which the program has not; with a "
		       "breakpoint at a line behind it `tensor display '%s'` shows it each time",
		       names);
}

/* A name that no tensor has: one may get it, but perhaps a variable is meant. False: not known yet. */
static bool find_absent(struct lbx_context *context, const char *name, char ret[LB_ERROR_MAX])
{
	lb_auto_free struct lbx_object_view *view = calloc(1, sizeof *view);
	lb_auto_free struct lbx_named *found = calloc(1, sizeof *found);
	char names[1][LBX_TEXT_MAX], label[LBX_ID_TEXT_MAX];
	struct lbx_tensors *tensors;
	bool clean = lb_ok();

	*ret = '\0';
	snprintf(names[0], sizeof names[0], "%s", name);
	if (view && found && lbx_context_tensors(context, &tensors) &&
	    lbx_find_named(context, tensors, names, 1, found) && found->count == 0) {
		snprintf(ret, LB_ERROR_MAX, "No tensor is called so now.");
		if (lbx_object_look(context, name, view) && view->n == 1) {
			const struct lbx_tensor *t = &view->held[0].tensor;
			lbx_tensor_id_text(t, label);
			snprintf(ret, LB_ERROR_MAX,
				 "No tensor is called so now: the one in the variable %s is %s%s, and only names are "
				 "followed.",
				 name, t->name[0] ? t->name : label, t->name[0] ? "" : ", without a name");
		}
	}
	if (clean && !lbx_bridge_waits() && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return !lbx_bridge_waits() && lb_ok();
}

/* `before`: what is followed no more. `absent`: what is to be known of the name. Both may be "". */
static void tell_begin(struct lbx_context *context, const struct lbx_follower *f, const char *before,
		       const char *absent, bool lacks)
{
	struct lbx_out *out = context->out;

	lbx_begin(out, NULL);
	lbx_wrap(out, 0, 4);
	LBX_KEY(out, "before", *before ? lbx_json_string(before) : json_null());
	if (*before)
		lbx_printf(out, "%s is followed no more.\n", before);
	lbx_wrap(out, 0, 4);
	lbx_tell(out, "%pF: shown each time it is computed while the program runs, until `tensor follow --off`",
		 LBX_STYLED(LBX_NAME, "followed", f->names));
	if (lacks)
		lbx_printf(out, "; the program has no runtime now: this waits for one to be loaded");
	lbx_printf(out, ".\n");
	lbx_wrap(out, 0, 4);
	if (*absent)
		lbx_printf(out, "%s\n", absent);
	lbx_end(out);
}

static bool begin(struct lbx_context *context, const struct lbx_args *args)
{
	static struct lbx_follower f;
	struct lbx_switch_place place;
	enum lbx_nodes_there there[LBX_GUESTS] = { LBX_NODES_NONE };
	bool lacks = context->target && lbx_probes_lack_runtime();

	if (!lbx_follower_begin(args, &f))
		return false;
	if (context->target && lbx_target_gdb_liveness() == LBX_CORE)
		return lb_fail("follow: a core file does not run; `tensor history %s` shows what there was", f.names);
	if (context->target && !lbx_probes_exist() && !lbx_bridge_waits()) /* asked in time */
		lb_clear_error();
	const struct lbx_follower *followed = lbx_follow_reader_now();
	char before[LB_LOG_BYTES] = "", absent[LB_ERROR_MAX] = "";
	if (followed && strcmp(followed->names, f.names) != 0)
		snprintf(before, sizeof before, "%s", followed->names);
	bool known = lbx_breakpoints_refresh();
	known &= lbx_hooks_ask();
	known &= lbx_switch_find(context, &place);
	known &= !place.running || !lbx_follower_is_one(&f) || find_absent(context, f.names, absent);
	if (!known || !lbx_guests_find(context, there))
		return false;
	if (place.process && !place.running && !refuse_others(context, there, f.names))
		return false;
	if (!lbx_follow_reader_open() || (place.running && !begin_log(context, &place.root, &f)) || lbx_bridge_waits())
		return false;
	lbx_follow_reader_begin(&f, context->out);
	lbx_breakpoint_probes_are_there(place.running && lbx_probes_exist());
	lbx_breakpoint_need_start(LBX_START_FOR_FOLLOWING);
	lbx_breakpoint_probes_are_there(false);
	lb_clear_error(); /* without probes this process is followed all the same */
	lbx_hooks_define();
	lbx_hooks_use_stops(LBX_STOPS_FOLLOW, true);
	tell_begin(context, &f, before, absent, place.process && !place.running && lacks);
	return true;
}

static bool end(struct lbx_context *context)
{
	struct lbx_switch_place place;
	const struct lbx_follower *f = lbx_follow_reader_now();

	if (!lbx_switch_find(context, &place) || !lbx_breakpoints_refresh() ||
	    (place.running && !lbx_follow_take_back(context, &place.root)))
		return false;
	lbx_begin(context->out, NULL);
	LBX_KEY(context->out, "followed", json_null());
	if (f)
		lbx_printf(context->out, "%s is followed no more.\n", f->names);
	else
		lbx_printf(context->out, "Nothing is followed.\n");
	lbx_end(context->out);
	lbx_follow_reader_end();
	lbx_breakpoint_release_start(LBX_START_FOR_FOLLOWING);
	lbx_hooks_use_stops(LBX_STOPS_FOLLOW, false);
	return true;
}

static bool tell(struct lbx_out *out)
{
	const struct lbx_follower *f = lbx_follow_reader_now();

	lbx_begin(out, NULL);
	LBX_KEY(out, "followed", f ? lbx_json_string(f->names) : json_null());
	LBX_KEY(out, "count", f ? json_integer((json_int_t)f->count) : json_null());
	lbx_begin_list(out, "values");
	for (int i = 0; f && i < f->n; i++)
		LBX_KEY(out, NULL, lbx_json_double(f->values[i]));
	lbx_end(out);
	if (!f)
		lbx_printf(out, "Nothing is followed: `tensor follow NAME` shows a value each time it is computed.\n");
	else if (!f->n)
		lbx_printf(out, "%s is followed; no value of that name has been computed yet.\n", f->names);
	else if (lbx_follower_is_one(f))
		show(out, f);
	else
		lbx_printf(out, "%s: %lld value%s so far.\n", f->names, (long long)f->count, LB_S(f->count));
	lbx_end(out);
	return true;
}

static bool run_follow(struct lbx_context *context, const struct lbx_args *args)
{
	if (lbx_args_option(args, "off"))
		return args->n ? lbx_misuse("follow: --off ends all: no name with it") : end(context);
	return args->n ? begin(context, args) : tell(context->out);
}

const struct lbx_command lbx_gdb_command_follow = {
	.name = "follow",
	.arguments = lbx_arguments_follow,
	.max_args = 1,
	.needs = LBX_NEEDS_KIND,
	.summary = "show a named value at each evaluation while the program runs on",
	.help = "On a terminal the last values are a chart in one line, drawn anew; else, and where NAME is a\n"
		"pattern or several with commas between, there is a line for each evaluation. Of more than\n"
		"one element it is a figure of the finite ones. The program stops at none and none is missed:\n"
		"its runtime logs that name into a pipe of gdb's; so this is of Lazybones' own runtime alone.\n"
		"It may be set before `run`, and lasts from run to run; Ctrl-C stops the program as ever.\n"
		"Without NAME the chart is shown now.\n"
		"Example: follow loss",
	.options = {
		LBX_FOLLOW_OPTIONS,
		{ "off", NULL, "end it" },
	},
	.run = run_follow,
};
