/* The mode is a word in the runtime's root; a program that is still to run gets it by its
 * environment. */
#include "plugin/step.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "plugin/bridge.h"
#include "plugin/target_gdb.h"

static const char *const words[] = { "off", "on", "fused" };
static const char *const environment[] = { "0", "1", "fused" };

static void tell(struct lbx_out *out, uint32_t mode, bool next_run)
{
	static const char *const how[] = {
		"run as ever", "can be stepped through, op by op",
		"can be stepped through, a fused chain at once",
	};

	if (out->json)
		lbx_json(out, json_pack("{s:s,s:b}", "step", words[mode % 3], "next_run", next_run));
	else if (next_run)
		lbx_printf(out, "The evaluations of the next `run` %s.\n", how[mode % 3]);
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

/* A live program whose runtime knows step mode. */
static bool find_program(struct lbx_context *context, bool *ret, struct lbx_root *root)
{
	struct lbx_table *table = NULL;
	enum lbx_liveness liveness = context->target ? lbx_target_gdb_liveness() : LBX_UNKNOWN;

	*ret = context->target && liveness != LBX_CORE && lbx_context_table(context, &table) &&
	       lbx_table_root(table, root);
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

bool lbx_step_run(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_root root = { 0 };
	bool running, in = args->n && strcmp(args->v[0], "in") == 0;
	uint32_t mode;

	if (args->n && strcmp(args->v[0], "frame") == 0)
		return select_frame(context);
	if (args->n && !find_word(args->v[0], &mode))
		return false;
	if (!find_program(context, &running, &root))
		return false;
	if (args->n == 0) {
		if (!running)
			return lb_fail("step: no program with the runtime runs; `tensor step on` is for the next one");
		tell(context->out, root.step, false);
		return true;
	}
	if (in && !running)
		return lb_fail("step: there is nothing to continue: `start` or `run` the program first");
	/* who has chosen fused keeps it */
	if (in && root.step != LB_STEP_OFF)
		mode = root.step;
	lbx_bridge_script("set environment LAZYBONES_STEP %s", environment[mode % 3]);
	if (running && !lbx_target_write(context->target, root.step_at, &mode, sizeof mode))
		return false;
	if (in)
		go_in();
	else
		tell(context->out, mode, !running);
	return true;
}
