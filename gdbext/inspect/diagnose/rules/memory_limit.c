/* Little room left below the limit of memory. */
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/format.h"

static bool conclude(struct lbx_case *c, void *state)
{
	const struct lb_counters *n = &c->root.counters;
	char active[32], limit[32], peak[32];

	(void)state;
	if (c->root.uncounted[0] || !n->memory_limit || n->memory_limit > INT64_MAX ||
	    n->peak_bytes / 10 < n->memory_limit / 11)
		return true;
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_MEDIUM, 0.7);
	if (!f)
		return lb_ok();
	lbx_format_bytes((int64_t)n->active_bytes, active, sizeof active);
	lbx_format_bytes((int64_t)n->peak_bytes, peak, sizeof peak);
	lbx_format_bytes((int64_t)n->memory_limit, limit, sizeof limit);
	LBX_SAY(f->title, "memory in use came to %s of %s that are allowed", peak, limit);
	LBX_SAY(f->evidence, "%s are in use now. The next allocation beyond the limit fails.", active);
	LBX_SAY(f->advice, "`memory --by site` tells who has it; lb_set_memory_limit() sets the limit.");
	return lb_ok();
}

const struct lbx_rule lbx_rule_memory_limit = {
	.id = "L7d",
	.name = "memory-limit",
	.title = "hardly any room below the limit of memory",
	.sees = LBX_SEES_RUNTIME,
	.meaning = "Allocation beyond the limit fails, and with it the evaluation that needs it.",
	.example = "lb_set_memory_limit(1 << 30);     /* and a model that needs as much */",
	.demands = "A limit is set, and what was in use at most is more than nine tenths of it.",
	.cure = "A higher limit, a smaller batch, or less that is kept: `memory` tells who has it.",
	.conclude = conclude,
};
