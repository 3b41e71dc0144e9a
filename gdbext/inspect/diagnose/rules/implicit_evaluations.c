/* Values that are read one by one, each by an evaluation of its own. */
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/runs.h"

static void say(struct lbx_diagnosed *f, const struct lbx_small_run *run)
{
	LBX_SAY(f->title, "%zu values are read one by one, each by an evaluation", run->n);
	LBX_SAY(
	    f->evidence,
	    "One call of thread %u has read a value that was not computed yet, %zu times in a row; each ran %lld operation%s at most.",
	    run->thread, run->n, (long long)run->most_ops, run->most_ops == 1 ? "" : "s");
	LBX_SAY(f->cost, "%zu evaluations where one would do", run->n);
	LBX_SAY(f->advice, "Evaluate the tensor once and read its elements from lb_data(), or stay within tensors.");
}

static bool conclude(struct lbx_case *c, void *state)
{
	(void)state;
	return lbx_find_runs(c, true, say);
}

const struct lbx_rule lbx_rule_implicit_evaluations = {
	.id = "L3",
	.name = "implicit-evaluations",
	.title = "values read one by one, each by an evaluation",
	.sees = LBX_SEES_EVENTS,
	.meaning = "lb_item(), printing and the like compute what they read. In a loop over elements each of them is\n"
		   "an evaluation, and everything that is computed elsewhere meanwhile is waited for.",
	.example = "for (int i = 0; i < n; i++)\n"
		   "	sum += lb_item(lb_slice(x, LB_AT(i)));",
	.demands =
	    "The same call reads values that are not computed yet at least 64 times in a row on one thread, and\n"
	    "none of these evaluations runs more than 3 operations. High from 1024 times on. A number read once a\n"
	    "turn, as a loss that is logged, is fine.",
	.cure = "Read all at once: lb_data() of the whole tensor; or compute with tensors what the loop computes.",
	.conclude = conclude,
};
