/* A compiled function that is traced again and again, so that compiling costs more than it gives. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"

enum { COMPILES_LEAST = 4, CALLS_PER_COMPILE = 4, FUNCTIONS_MOST = 1 << 16 };

static bool tell(struct lbx_case *c, const struct lbx_compiled *x)
{
	bool each = 2 * x->compiles >= x->calls;
	struct lbx_diagnosed *f = lbx_case_found(c, each ? LBX_HIGH : LBX_MEDIUM, each ? 0.95 : 0.8);

	if (!f)
		return lb_ok();
	f->pc = x->site;
	LBX_SAY(f->title, "%s was traced %" PRIu64 " times in %" PRIu64 " calls",
		x->name[0] ? x->name : "a compiled function", x->compiles, x->calls);
	LBX_SAY(f->evidence, "%" PRIu64 " calls were served by a graph that had been captured.", x->hits);
	if (x->reason[0])
		LBX_SAY(f->evidence, " Why it was traced last: %s.", x->reason);
	if (x->evictions)
		LBX_SAY(f->evidence, " %" PRIu64 " graphs were dropped for others, as it holds %" PRIu64 " at most.",
			x->evictions, x->limit);
	LBX_SAY(f->cost, "%" PRIu64 " traces, of %" PRIu64 " tensors the last", x->compiles, x->traced);
	LBX_SAY(f->advice,
		"Give what changes as a tensor; where sizes change, compile it shapeless, or pad to few sizes.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct lbx_compiled x;
	uint64_t slot = 0;

	(void)state;
	for (int i = 0; i < FUNCTIONS_MOST && lbx_table_compiled(c->table, &slot, &x); i++)
		if (!x.torn && x.compiles >= COMPILES_LEAST && x.compiles * CALLS_PER_COMPILE > x.calls && !tell(c, &x))
			return false;
	return lb_ok();
}

const struct lbx_rule lbx_rule_retracing = {
	.id = "L6a",
	.name = "retracing",
	.title = "a compiled function that is traced at every other call",
	.sees = LBX_SEES_RUNTIME,
	.meaning =
	    "A compiled function is traced when it is called with shapes, dtypes or constants that it has no graph\n"
	    "for. Where that happens call after call, each pays for a trace and none is served.",
	.example = "for (int t = 1; t < 100; t++)\n"
		   "	y = lb_call(step, lb_slice(x, LB_TO(t)));   /* another shape each time */",
	.demands =
	    "It was traced at least 4 times, and more than once in 4 calls. High where every other call was a trace.",
	.cure = "Give what changes as a tensor instead of a constant; compile it shapeless, or pad\n"
		"to a few sizes. `compiled` tells the reason of the last trace.",
	.conclude = conclude,
};
