#include "plugin/stops/step.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/graph/listings.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/files.h"
#include "plugin/bridge/lines.h"
#include "plugin/command.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/stops/breakpoints.h"
#include "plugin/stops/evaluation.h"
#include "plugin/stops/probes.h"
#include "plugin/stops/switches.h"
#include "plugin/symbols/graph_files.h"
#include "plugin/symbols/graphs.h"
#include "table/listing.h"

static const char *const words[] = { "off", "on", "fused" };
static const char *const environment[] = { "0", "1", "fused" };

/* A file that is sourced, where gdb runs a stop's commands before it goes on to the next line; in a
 * `define` it runs them when all of it has run. */
static const char step_in[] = "_lb_tbreak graph_start\n"
			      "_lb_c _lb_step_began\n"
			      "commands\n"
			      "silent\n"
			      "with language c -- " LBX_STEP_ENTER " $_probe_arg1\n"
			      "continue\n"
			      "end\n"
			      "continue\n"
			      "_lb_as_c _lb_step_end\n";

bool lbx_step_open(void)
{
	return lbx_file_open(LBX_STEP_IN_FD, "lazybones-step-in", step_in);
}

/* Why gdb shows no listings; NULL: it does, as far as is known. */
static const char *find_refusal(char *text, size_t size)
{
	if (lbx_graphs_refusal())
		return lbx_graphs_refusal();
	if (lbx_graph_files_prepare())
		return NULL;
	snprintf(text, size, "%s", lb_error_message());
	lb_clear_error();
	return text;
}

static void tell_unlisted(struct lbx_out *out, bool matters)
{
	char text[LB_ERROR_MAX];
	const char *why = matters ? find_refusal(text, sizeof text) : NULL;

	LBX_KEY(out, "unlisted", lbx_json_text(why));
	if (!why)
		return;
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_WARNING, "They cannot be shown");
	lbx_printf(out, ": %s.\n", why);
}

/* `root`: of the program that runs; NULL: there is none yet. */
static void tell(struct lbx_context *context, uint32_t mode, const struct lbx_root *root, bool process)
{
	struct lbx_out *out = context->out;
	char refusal[LB_FLIGHT_TEXT_BYTES];
	static const char *const how[] = {
		"run as usual",
		"can be stepped through, op by op",
		"can be stepped through, a fused chain at once",
	};

	bool refused = root && lbx_step_refusal(context, root, refusal, sizeof refusal);
	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:s,s:b,s:I,s:o}", "step", words[mode % 3], "next_run", !root, "unstepped",
				refused ? (json_int_t)root->counters.unstepped : 0, "refusal",
				refused ? lbx_json_string(refusal) : json_null()));
	lbx_wrap(out, 0, 4);
	if (!root && process) {
		lbx_printf(out, "The evaluations from the runtime's start on %s.\n", how[mode % 3]);
	} else if (!root) {
		lbx_printf(out, "The evaluations of the next `run`, `target remote` or `attach` %s.\n", how[mode % 3]);
	} else {
		lbx_printf(out, "The evaluations that begin from now on %s.\n", how[mode % 3]);
		lbx_tell_unstepped(context, root);
	}
	tell_unlisted(out, mode != LB_STEP_OFF);
	lbx_end(out);
}

static void put_source_path(void)
{
	lbx_bridge_script("directory " LBX_GRAPHS_FOLDERS);
}

/* A connection that was lost, or the like, may have left the breakpoint of `step in`. */
bool lbx_step_begin(void)
{
	put_source_path();
	if (!lbx_breakpoint_exists(LBX_BREAKPOINT_STEP))
		return true;
	if (!lbx_breakpoints_refresh())
		return false;
	lbx_breakpoint_delete(LBX_BREAKPOINT_STEP);
	return true;
}

static bool find_word(const char *word, uint32_t *ret)
{
	for (*ret = 0; *ret < 3; ++*ret)
		if (strcmp(word, words[*ret]) == 0)
			return true;
	*ret = LB_STEP_OPS;
	return strcmp(word, "in") == 0 || lb_fail("step: takes on, fused, off, in, out or frame, not '%s'", word);
}

/* ---- frames ---- */

/* Selects the innermost frame of a graph's code. */
static bool select_frame(struct lbx_context *context)
{
	struct lbx_frame_found found;

	if (!lbx_context_program(context) || !lbx_evaluation_frame(context, &found))
		return false;
	if (found.level < 0)
		return lb_fail("step: none of this thread's frames evaluates a graph in step mode");
	lbx_bridge_script("frame %#x", (unsigned)found.level);
	return true;
}

/* Goes on until the call that evaluates returns to the program. */
static bool go_out(struct lbx_context *context)
{
	struct lbx_thread thread;
	int found;

	if (!lbx_context_program(context))
		return false;
	if (lbx_target_gdb_liveness() == LBX_CORE)
		return lbx_bridge_waits() ? false : lb_fail("step: there is no process that could go on");
	if (!lbx_evaluation_now(context, &thread))
		return false;
	if (!thread.eval)
		return lb_fail("step: this thread evaluates nothing");
	if (!lbx_evaluation_caller(context, &thread, &found))
		return false;
	if (found < 1)
		return lb_fail("step: the call that asked for this evaluation is not among the thread's frames: "
			       "a stream runs it as a job");
	lbx_bridge_script("set var $_lb_level = 0x%x", (unsigned)found - 1);
	lbx_bridge_go("_lb_step_out");
	return true;
}

/* ---- inside an evaluation ---- */

/* Where in the graph's code the thread stands: in the call of an operation, or before one; what `found` tells
 * tells it, since the runtime notes a line only when its operation begins. False: outside, not yet in it or no more. */
static bool find_place(const struct lbx_eval_graph *graph, const struct lbx_frame_found *found, uint64_t *ret)
{
	if (found->level < 0)
		return false;
	*ret = found->frame.pc - graph->code - found->frame.after_call;
	return *ret < graph->code_bytes;
}

/* Where the next operation of the evaluation begins, in the code of its graph; 0: there is none. *ret_inside: the
 * thread is in that code. */
static bool find_next(struct lbx_context *context, const struct lbx_thread *thread, const struct lbx_frame_found *found,
		      bool *ret_inside, uint64_t *ret)
{
	struct lbx_eval_graph graph;
	struct lbx_listing listing;
	struct lbx_table *table;
	uint64_t place = 0;

	if (!lbx_context_table(context, &table) || !lbx_table_graph_by_id(table, thread->graph, &graph) ||
	    !lbx_table_listing(table, &graph, &listing))
		return false;
	*ret = 0;
	*ret_inside = find_place(&graph, found, &place);
	/* the runtime notes a line before it runs, and is not in its code any more when the last has run */
	bool over = !*ret_inside && thread->line > 0;
	for (uint32_t line = 0; !over && line < listing.n_lines && *ret == 0; line++)
		if (listing.lines[line].code > place)
			*ret = graph.code + listing.lines[line].code;
	lbx_listing_deinit(&listing);
	return true;
}

static bool refuse(struct lbx_context *context, const struct lbx_thread *thread)
{
	int caller;

	if (!lbx_evaluation_caller(context, thread, &caller))
		return false;
	return lb_fail("step: what this thread evaluates did not begin in step mode; %s",
		       caller < 1 ? "a stream runs it as a job: `tensor step in` in another thread goes to the next "
				    "evaluation"
				  : "`tensor step out` ends it, `tensor step in` then goes to the next evaluation");
}

/* The program may stand at an operation of an evaluation, or deep inside one, in a kernel or at a catch: then
 * on to the next (*ret). `steps`: evaluations that begin are stepped through. In the last, and after it, the next graph is wanted. */
static bool go_on_inside(struct lbx_context *context, bool steps, bool *ret)
{
	struct lbx_thread thread;
	struct lbx_frame_found found;
	uint64_t next;
	bool inside;

	*ret = false;
	if (!lbx_evaluation_now(context, &thread))
		return false;
	if (!thread.eval)
		return true;
	if (!thread.graph) /* begun, but not yet in its graph's code: that is where the next graph starts */
		return (steps && thread.done == 0) || refuse(context, &thread);
	if (!lbx_evaluation_frame(context, &found) || !find_next(context, &thread, &found, &inside, &next))
		return false;
	if (next == 0)
		return true;
	lbx_bridge_script("set var $_lb_level = 0x%x", inside ? (unsigned)found.level : 0);
	lbx_bridge_script("set var $_lb_next = 0x%" PRIx64, next);
	/* the code may be run within one of its operations, too: the frame counts, once there is one */
	lbx_bridge_go(inside ? "_lb_step_on" : "_lb_step_into");
	*ret = true;
	return true;
}

/* ---- the command ---- */

static bool run_step(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_switch_place place;
	bool in = args->n && strcmp(args->v[0], "in") == 0;
	uint32_t mode = LB_STEP_OFF, wish;
	bool wished = lbx_switch_wished(LBX_SWITCH_STEP, &wish);

	if (args->n && strcmp(args->v[0], "frame") == 0)
		return select_frame(context);
	if (args->n && strcmp(args->v[0], "out") == 0)
		return go_out(context);
	if (args->n && !find_word(args->v[0], &mode))
		return false;
	if (!lbx_switch_find(context, &place))
		return false;
	const struct lbx_root *root = place.running ? &place.root : NULL;
	if (root && !root->step_at)
		return lb_fail("step: the program's runtime (%s) has no step mode", root->version);
	if (args->n == 0) {
		if (!root && !wished)
			return lb_fail("step: no program with the runtime runs; `tensor step on` is for the next one");
		tell(context, root ? root->step : wish, root, place.process);
		return true;
	}
	if (in && !place.process)
		return lbx_context_program(context) &&
		       lb_fail("step: there is nothing to continue: `start` or `run` the program first");
	if (in && root && !lbx_probes_exist())
		return false;
	bool lacks = in && !root && lbx_probes_lack_runtime();
	if (lbx_bridge_waits())
		return false;
	if (lacks)
		return lb_fail("step: the program has no runtime now, so nothing would stop it; "
			       "`tensor step on` waits for one to be loaded");
	if (in && !lbx_graph_files_prepare())
		return false;
	if (in && root && context->stacks) {
		bool inside;
		put_source_path();
		if (!go_on_inside(context, root->step != LB_STEP_OFF, &inside) || inside)
			return inside;
	}
	/* who has chosen fused keeps it */
	if (in && (root ? root->step : wish) != LB_STEP_OFF)
		mode = root ? root->step : wish;
	if (!lbx_switch_set(context, &place, LBX_SWITCH_STEP, mode, environment[mode % 3]))
		return false;
	put_source_path();
	if (in) {
		lbx_breakpoint_note(LBX_BREAKPOINT_STEP);
		lbx_bridge_go("source " LBX_STEP_IN_FILE);
	} else {
		tell(context, mode, root, place.process);
	}
	return true;
}

const struct lbx_command lbx_gdb_command_step = {
	.name = "step",
	.arguments = lbx_arguments_step,
	.max_args = 1,
	.needs = LBX_SELECTS_FRAME,
	.summary = "step through evaluations, op by op",
	.help = "In step mode an evaluation is a function of gdb's, eval(graph N), with the graph's "
		"listing\nfor its source: `bt`, `up`, `list`, `next`, `finish`, `until` and `break "
		"graph-N.lb:L` work.\n"
		"on     each evaluation from now on, one call an op; or of the program to come, by `run`,\n"
		"       `target remote` or `attach`\n"
		"fused  likewise, one call a chain of elementwise ops\n"
		"off    evaluations run as usual\n"
		"in     on, and continue to the first op of the next evaluation; inside one that began\n"
		"       in step mode, to its next op\n"
		"out    continue until the call that evaluates returns to the program; not only in step mode\n"
		"frame  select the frame of the graph that the thread evaluates; also in a core\n"
		"Without a word: shows the mode. Equal graphs have one number, so a breakpoint in a "
		"listing stops\nin each round of a loop. `tensor listing` lists them.",
	.run = run_step,
};
