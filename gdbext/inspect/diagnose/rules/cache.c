/* More memory kept for reuse than in use. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/format.h"

enum { BYTES_LEAST = 64 << 20 };

/* What was in use at once may be needed at once again. */
static enum lbx_severity severity_of(const struct lb_counters *n)
{
	return n->cache_bytes / 4 > n->peak_bytes   ? LBX_HIGH
	       : n->cache_bytes / 2 > n->peak_bytes ? LBX_MEDIUM
						    : LBX_LOW;
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct lb_counters *n = &c->root.counters;
	char cache[32], active[32], limit[32], peak[32];

	(void)state;
	if (c->root.uncounted[0] || n->cache_bytes < BYTES_LEAST || n->cache_bytes / 2 < n->active_bytes)
		return true;
	struct lbx_diagnosed *f = lbx_case_found(c, severity_of(n), 0.7);
	if (!f)
		return lb_ok();
	lbx_format_bytes((int64_t)n->cache_bytes, cache, sizeof cache);
	lbx_format_bytes((int64_t)n->active_bytes, active, sizeof active);
	lbx_format_bytes((int64_t)n->cache_limit, limit, sizeof limit);
	lbx_format_bytes((int64_t)n->peak_bytes, peak, sizeof peak);
	LBX_SAY(f->title, "the cache keeps %s, and %s are in use", cache, active);
	LBX_SAY(f->evidence, "In use were %s at most. The cache may keep up to %s.", peak, limit);
	LBX_SAY(f->cost, "%s that other programs cannot have", cache);
	LBX_SAY(f->advice,
		"lb_clear_cache() between phases, or a limit: lb_set_cache_limit(). Sizes that change with each call "
		"leave a buffer of each behind: pad to a few.");
	return lb_ok();
}

const struct lbx_rule lbx_rule_cache = {
	.id = "L7c",
	.name = "cache",
	.title = "far more memory kept for reuse than in use",
	.sees = LBX_SEES_RUNTIME,
	.meaning =
	    "Freed buffers are kept for the next tensor that fits. Where sizes change from call to call few fit, and\n"
	    "the cache grows to its limit.",
	.example = "for (int n = 1; n < 4096; n++)\n"
		   "	lb_eval(model(batch_of(n)));   /* each size leaves its buffers behind */",
	.demands =
	    "The cache holds at least 64 MiB, and more than twice what is in use. Above low where that is more than\n"
	    "twice what was ever in use, high where more than four times.",
	.cure = "lb_clear_cache() now and then, lb_set_cache_limit(), or a few sizes that batches are padded to.",
	.conclude = conclude,
};
