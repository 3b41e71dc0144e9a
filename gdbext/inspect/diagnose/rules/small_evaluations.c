/* One call that evaluates very little, many times in a row: an evaluation within a loop over elements. */
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/runs.h"

static void say(struct lbx_diagnosed *f, const struct lbx_small_run *run)
{
	LBX_SAY(f->title, "%zu evaluations in a row compute next to nothing", run->n);
	LBX_SAY(
	    f->evidence,
	    "One call of thread %u has evaluated %zu times, with no other evaluation between; each ran %lld operation%s at most.",
	    run->thread, run->n, (long long)run->most_ops, run->most_ops == 1 ? "" : "s");
	LBX_SAY(f->cost, "%zu evaluations where one would do", run->n);
	LBX_SAY(f->advice, "Build the whole loop's graph first, and evaluate it once, behind the loop.");
}

static bool conclude(struct lbx_case *c, void *state)
{
	(void)state;
	return lbx_find_runs(c, false, say);
}

const struct lbx_rule lbx_rule_small_evaluations = {
	.id = "L2b",
	.name = "small-evaluations",
	.title = "an evaluation within a loop, of next to nothing",
	.sees = LBX_SEES_EVENTS,
	.meaning = "Each evaluation costs more than the few operations that it runs: the work is in starting it.",
	.example = "for (int i = 0; i < n; i++) {\n"
		   "	lb_tensor *y = lb_exp(lb_slice(x, LB_AT(i)));\n"
		   "	lb_eval(y);\n"
		   "}",
	.demands = "The same call evaluates at least 64 times in a row on one thread, and no time runs more than 3\n"
		   "operations. High from 1024 times on.",
	.cure = "Compute the whole at once (lb_exp(x)), or evaluate behind the loop.",
	.conclude = conclude,
};
