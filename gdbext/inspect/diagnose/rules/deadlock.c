/* Threads that wait for each other's evaluations in a circle. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"

enum { THREADS_MOST = 4096 };

static int who_computes(const struct lbx_thread *threads, int n, uint64_t eval)
{
	for (int i = 0; i < n; i++)
		if (threads[i].eval == eval && eval)
			return i;
	return -1;
}

static bool tell(struct lbx_case *c, const struct lbx_thread *threads, int n, int first)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.95);
	int at = first;

	if (!f)
		return lb_ok();
	f->pc = threads[first].site;
	LBX_SAY(f->title, "threads wait for each other's evaluations");
	do {
		LBX_SAY(f->evidence, "%sthread %" PRIu64 " runs evaluation %" PRIu64 " and waits for %" PRIu64,
			at == first ? "" : "; ", threads[at].tid, threads[at].eval, threads[at].waits_for);
		at = who_computes(threads, n, threads[at].waits_for);
	} while (at != first && at >= 0);
	LBX_SAY(f->evidence, ".");
	LBX_SAY(f->cost, "none of them will ever go on");
	LBX_SAY(f->advice, "Evaluate what both need before either, or in one stream.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct lbx_thread *threads = malloc(THREADS_MOST * sizeof *threads);
	uint64_t slot = 0;
	bool done = true;
	int n = 0;

	(void)state;
	if (!threads)
		return lb_fail("out of memory");
	while (n < THREADS_MOST && lbx_table_thread(c->table, &slot, &threads[n]))
		n++;
	for (int i = 0; i < n && done; i++) {
		int at = i, least = i;
		for (int steps = 0; steps < n && at >= 0; steps++) {
			at = threads[at].waits_for ? who_computes(threads, n, threads[at].waits_for) : -1;
			if (at == i)
				break;
			least = at >= 0 && at < least ? at : least;
		}
		if (at == i && least == i) /* each circle once, by the first of it */
			done = tell(c, threads, n, i);
	}
	free(threads);
	return done && lb_ok();
}

const struct lbx_rule lbx_rule_deadlock = {
	.id = "F2",
	.name = "deadlock",
	.title = "threads that wait for each other's evaluations",
	.sees = LBX_SEES_RUNTIME,
	.meaning = "Each of them needs what another one is to compute, which in turn waits: none will go on.",
	.example = "Two threads, each within an evaluation that needs the other's.",
	.demands =
	    "The runtime's records of threads: each runs an evaluation and waits for the next one's, in a circle.",
	.cure = "Evaluate what both need first, or give it to one stream.",
	.conclude = conclude,
};
