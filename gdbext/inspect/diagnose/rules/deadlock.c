/* Threads that wait for each other's evaluations in a circle. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/eval_waits.h"
#include "inspect/diagnose/rule.h"

/* The one that a thread waits for, if that waits, too. */
static const struct lbx_thread *next_of(const struct lbx_eval_waits *waits, const struct lbx_thread *thread)
{
	uint64_t runner = thread->waits_for ? lbx_eval_waits_runner(waits, thread->waits_for) : 0;

	return runner ? lbx_eval_waits_of(waits, runner) : NULL;
}

static bool tell(struct lbx_case *c, const struct lbx_eval_waits *waits, const struct lbx_thread *first)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.95);
	const struct lbx_thread *at = first;

	if (!f)
		return lb_ok();
	f->pc = first->site;
	LBX_SAY(f->title, "threads wait for each other's evaluations");
	do {
		LBX_SAY(f->evidence, "%sthread %" PRIu64 " runs evaluation %" PRIu64 " and waits for %" PRIu64,
			at == first ? "" : "; ", at->tid, at->eval, at->waits_for);
		at = next_of(waits, at);
	} while (at && at != first);
	LBX_SAY(f->evidence, ".");
	LBX_SAY(f->cost, "none of them will ever go on");
	LBX_SAY(f->advice, "Evaluate what both need before either, or in one stream.");
	return lb_ok();
}

/* Whether it is in a circle, of which it is the first: each is told once. */
static bool is_first_of_circle(const struct lbx_eval_waits *waits, const struct lbx_thread *thread)
{
	const struct lbx_thread *at = thread;

	for (size_t steps = 0; steps < waits->n; steps++) {
		at = next_of(waits, at);
		if (!at || at == thread)
			return at;
		if (at < thread)
			return false;
	}
	return false;
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct lbx_eval_waits waits = { .n = 0 };
	bool done = lbx_eval_waits_read(c->table, &waits);

	(void)state;
	for (size_t i = 0; i < waits.n && done; i++)
		if (is_first_of_circle(&waits, &waits.threads[i]))
			done = tell(c, &waits, &waits.threads[i]);
	lbx_eval_waits_deinit(&waits);
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
