/* The mode is a word in the runtime's root. A program that is still to run gets it by its environment.
 * One that gdb has connected to gets it at once; or, before its runtime has started, by a breakpoint at
 * the runtime's first probe (catch.c). */
#include "plugin/step.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "plugin/bridge.h"
#include "plugin/catch.h"
#include "plugin/target_gdb.h"

static const char *const words[] = { "off", "on", "fused" };
static const char *const environment[] = { "0", "1", "fused" };

static struct {
	bool given;
	uint32_t mode;
} wish; /* for processes to come */

static void tell(struct lbx_out *out, uint32_t mode, bool running, bool process)
{
	static const char *const how[] = {
		"run as ever", "can be stepped through, op by op",
		"can be stepped through, a fused chain at once",
	};

	if (out->json)
		lbx_json(out, json_pack("{s:s,s:b}", "step", words[mode % 3], "next_run", !running));
	else if (!running && process)
		lbx_printf(out, "The evaluations from the runtime's start on %s.\n", how[mode % 3]);
	else if (!running)
		lbx_printf(out, "The evaluations of the next `run`, `target remote` or `attach` %s.\n",
			   how[mode % 3]);
	else
		lbx_printf(out, "The evaluations that begin from now on %s.\n", how[mode % 3]);
}

/* Stops at the first line of the listing of the next evaluation. */
static void go_in(void)
{
	lbx_bridge_script("_lb_tbreak graph_start");
	lbx_bridge_script("commands\nsilent\nwith language c -- _lb_enter $_probe_arg1\ncontinue\nend");
	lbx_bridge_script("continue");
}

static bool find_word(const char *word, uint32_t *ret)
{
	for (*ret = 0; *ret < 3; ++*ret)
		if (strcmp(word, words[*ret]) == 0)
			return true;
	*ret = LB_STEP_OPS;
	return strcmp(word, "in") == 0 ||
	       lb_fail("step: takes on, fused, off, in or frame, not '%s'", word);
}

/* A live process; and whether its runtime, which knows step mode, has started. */
static bool find_program(struct lbx_context *context, bool *process, bool *ret, struct lbx_root *root)
{
	struct lbx_table *table = NULL;
	enum lbx_liveness liveness = context->target ? lbx_target_gdb_liveness() : LBX_UNKNOWN;

	*process = context->target && liveness != LBX_CORE;
	*ret = *process && lbx_context_table(context, &table) && lbx_table_root(table, root);
	if (lbx_bridge_waits())
		return false;
	lb_clear_error();
	return !*ret || root->step_at ||
	       lb_fail("step: the program's runtime (%s) has no step mode", root->version);
}

/* Selects the innermost frame of a graph's code. */
static bool select_frame(struct lbx_context *context)
{
	enum { FRAMES_MOST = 64 };
	struct lbx_source_line line;
	struct lbx_stack stack;
	uint64_t thread;
	int found = -1;

	if (!context->stacks)
		return lb_fail("step: there is no program");
	if (context->stacks->ops->threads(context->stacks, &thread, 1) < 1 ||
	    !context->stacks->ops->walk(context->stacks, thread, FRAMES_MOST, &stack))
		return false;
	for (int i = 0; i < stack.n && found < 0; i++) {
		if (context->stacks->ops->line(context->stacks, &stack.frames[i], &line) &&
		    strncmp(line.function, "eval(graph ", 11) == 0)
			found = stack.frames[i].level;
	}
	lbx_stack_release(&stack);
	if (found < 0)
		return lb_fail("step: none of this thread's frames evaluates a graph in step mode");
	lbx_bridge_script("frame %d", found);
	return true;
}

bool lbx_step_waits(void)
{
	return wish.given && wish.mode != LB_STEP_OFF;
}

bool lbx_step_arm(struct lbx_context *context, const struct lbx_root *root)
{
	if (!wish.given || root->step == wish.mode)
		return true;
	if (!root->step_at)
		return lb_fail("step: the program's runtime (%s) has no step mode", root->version);
	return lbx_target_write(context->target, root->step_at, &wish.mode, sizeof wish.mode);
}

bool lbx_step_run(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_root root = { 0 };
	bool process, running, in = args->n && strcmp(args->v[0], "in") == 0;
	uint32_t mode, now;

	if (args->n && strcmp(args->v[0], "frame") == 0)
		return select_frame(context);
	if (args->n && !find_word(args->v[0], &mode))
		return false;
	if (!find_program(context, &process, &running, &root))
		return false;
	if (args->n == 0) {
		if (!running && !wish.given)
			return lb_fail("step: no program with the runtime runs; `tensor step on` is for the next one");
		tell(context->out, running ? root.step : wish.mode, running, process);
		return true;
	}
	if (in && !process)
		return lb_fail("step: there is nothing to continue: `start` or `run` the program first");
	if (in && running && !lbx_catch_has_probes())
		return false;
	/* who has chosen fused keeps it */
	now = running ? root.step : wish.mode;
	if (in && now != LB_STEP_OFF)
		mode = now;
	if (!lbx_catch_refresh() || (!running && mode != LB_STEP_OFF && !lbx_catch_add_start(process)))
		return false;
	wish.given = true;
	wish.mode = mode;
	if (mode == LB_STEP_OFF)
		lbx_catch_drop_start();
	lbx_bridge_script("set environment LAZYBONES_STEP %s", environment[mode % 3]);
	if (running && !lbx_target_write(context->target, root.step_at, &mode, sizeof mode))
		return false;
	if (in)
		go_in();
	else
		tell(context->out, mode, running, process);
	return true;
}
