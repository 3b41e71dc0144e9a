#include "inspect/diagnose/runs.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/vector.h"

struct runs {
	size_t n, room;
	struct lbx_small_run *list; /* the longest of each call */
};

static bool keep(struct runs *runs, const struct lbx_small_run *run)
{
	for (size_t i = 0; i < runs->n; i++) {
		if (runs->list[i].site != run->site)
			continue;
		if (runs->list[i].n < run->n)
			runs->list[i] = *run;
		return true;
	}
	if (!lb_reserve(runs->list, runs->room, runs->n + 1))
		return lb_fail("out of memory");
	runs->list[runs->n++] = *run;
	return true;
}

static bool gather(const struct lbx_evaluations *e, bool is_implicit, struct runs *ret)
{
	for (size_t i = 0, n; i < e->n; i += n) {
		struct lbx_small_run run = { .thread = e->list[i].thread, .site = e->list[i].site };
		bool is_small = true;
		for (n = 0; i + n < e->n; n++) {
			const struct lbx_evaluation *x = &e->list[i + n];
			if (x->thread != run.thread || x->site != run.site)
				break;
			is_small &= x->ops <= LBX_RUN_OPS && x->is_implicit == is_implicit;
			run.most_ops = x->ops > run.most_ops ? x->ops : run.most_ops;
		}
		run.n = n;
		if (is_small && run.n >= LBX_RUN_LEAST && !keep(ret, &run))
			return false;
	}
	return true;
}

bool lbx_find_runs(struct lbx_case *c, bool is_implicit,
		   void (*say)(struct lbx_diagnosed *f, const struct lbx_small_run *run))
{
	const struct lbx_evaluations *e = lbx_case_evaluations(c);
	struct runs runs = { 0 };
	bool done = e && gather(e, is_implicit, &runs);

	for (size_t i = 0; i < runs.n && done; i++) {
		struct lbx_diagnosed *f =
		    lbx_case_found(c, runs.list[i].n >= LBX_RUN_HIGH ? LBX_HIGH : LBX_MEDIUM, 0.9);
		if (!f)
			break;
		f->pc = runs.list[i].site;
		say(f, &runs.list[i]);
	}
	free(runs.list);
	return done && lb_ok();
}
