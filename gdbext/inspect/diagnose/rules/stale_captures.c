/* Graphs that are not what their function would be traced as now: by the runtime's own check. */
#include <inttypes.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"

enum { FUNCTIONS_MOST = 1 << 16 };

static bool tell(struct lbx_case *c, const struct lbx_compiled *x)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.97);

	if (!f)
		return lb_ok();
	f->pc = x->stale_site ? x->stale_site : x->site;
	LBX_SAY(f->title, "%s computes by a graph that is stale", x->name[0] ? x->name : "a compiled function");
	LBX_SAY(f->evidence, "Of %" PRIu64 " calls that were traced again, %" PRIu64 " gave another graph: %s.",
		x->checks, x->stale, x->stale_text[0] ? x->stale_text : "how is not known");
	LBX_SAY(f->cost, "results of the time when it was traced, without an error");
	LBX_SAY(f->advice, "Give what changes to lb_call() as an input, or to lb_call_with() among its constants.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct lbx_compiled x;
	uint64_t slot = 0;

	(void)state;
	for (int i = 0; i < FUNCTIONS_MOST && lbx_table_compiled(c->table, &slot, &x); i++)
		if (!x.torn && x.stale && !tell(c, &x))
			return false;
	return lb_ok();
}

const struct lbx_rule lbx_rule_stale_captures = {
	.id = "L6c",
	.name = "stale-captures",
	.title = "a compiled function whose graph is not what it would be traced as now",
	.sees = LBX_SEES_RUNTIME,
	.meaning =
	    "What a compiled function reads besides its inputs (a variable of the host, its context, a tensor that is\n"
	    "replaced) is as it was when it was traced. Results are silently those of then.",
	.example = "static double scale = 2;\n"
		   "lb_call(step, 1, &x, 1, &y);  /* multiplies by scale: traced with 2 */\n"
		   "scale = 3;\n"
		   "lb_call(step, 1, &x, 1, &y);  /* by 2 still */",
	.demands =
	    "The program ran with LAZYBONES_COMPILE=check, by which its runtime traces the first 4 calls that a graph\n"
	    "serves again, and each 64th, and one of the traces was another graph than the captured one.",
	.cure = "Pass what changes: tensors as inputs, numbers by lb_call_with().",
	.conclude = conclude,
};
