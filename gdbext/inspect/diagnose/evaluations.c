#include "inspect/diagnose/evaluations.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/vector.h"
#include "inspect/diagnose/case.h"

enum { THREADS_MOST = 1024 };

/* The last implicit_eval of a thread whose evaluation has not ended. */
struct reading {
	uint32_t thread;
	uint64_t site;
};

static int by_thread(const void *a, const void *b)
{
	const struct lbx_evaluation *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->eval < y->eval ? -1 : x->eval > y->eval;
}

static struct reading *reading_of(struct reading *list, int *n, uint32_t thread)
{
	for (int i = 0; i < *n; i++)
		if (list[i].thread == thread)
			return &list[i];
	if (*n == THREADS_MOST)
		return NULL;
	list[*n] = (struct reading){ thread, 0 };
	return &list[(*n)++];
}

static bool add(struct lbx_case *c, const struct lbx_happened *event, bool is_implicit)
{
	struct lbx_evaluations *e = &c->evaluations;

	if (!lb_reserve(e->list, e->room, e->n + 1))
		return lb_fail("out of memory for %zu evaluations", e->n);
	e->list[e->n++] = (struct lbx_evaluation){
		.thread = event->event->thread,
		.is_implicit = is_implicit,
		.eval = lbx_happened_arg(c, event, "eval"),
		.site = lbx_happened_arg(c, event, "site"),
		.ops = (int64_t)lbx_happened_arg(c, event, "ops"),
	};
	return true;
}

const struct lbx_evaluations *lbx_case_evaluations(struct lbx_case *c)
{
	struct reading readings[THREADS_MOST];
	int n = 0;

	if (c->has_evaluations)
		return &c->evaluations;
	for (int64_t i = 0; i < c->flight.n; i++) {
		struct lbx_happened event = { c->kinds[c->flight.events[i].kind], &c->flight.events[i] };
		if (event.what != LBX_HAPPENED_implicit_eval && event.what != LBX_HAPPENED_eval_done)
			continue;
		struct reading *r = reading_of(readings, &n, event.event->thread);
		uint64_t site = lbx_happened_arg(c, &event, "site");
		if (event.what == LBX_HAPPENED_eval_done && !add(c, &event, r && r->site == site))
			return NULL;
		if (r)
			r->site = event.what == LBX_HAPPENED_implicit_eval ? site : 0;
	}
	if (c->evaluations.n)
		qsort(c->evaluations.list, c->evaluations.n, sizeof *c->evaluations.list, by_thread);
	c->has_evaluations = true;
	return &c->evaluations;
}

size_t lbx_evaluations_of_thread(const struct lbx_evaluations *e, size_t i)
{
	size_t n = 0;

	while (i + n < e->n && e->list[i + n].thread == e->list[i].thread)
		n++;
	return n;
}
