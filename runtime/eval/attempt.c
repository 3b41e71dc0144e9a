/* One attempt at an evaluation: claims and orders what it needs, and runs that, or says what was in the way. */
#include <stdio.h>
#include <stdlib.h>

#include "eval/eval.h"
#include "eval/run.h"
#include "eval/step.h"
#include "eval/wait.h"
#include "graph/lazy.h"
#include "memory/thread.h"
#include "probes.h"
#include "publish/root.h"

static bool run_all(struct lb_run *run, struct lb_thread *record)
{
	const struct lb_schedule *s = &run->schedule;
	bool ok = true;
	for (uint32_t i = 0; i < s->n && ok; i++) {
		uint32_t index = s->order[i];
		ok = s->steps[index].group != index || lb_run_group(run, index, record);
	}
	return ok;
}

bool lb_run_schedule(struct lb_run *run, struct lb_thread *record)
{
	struct lb_schedule *s = &run->schedule;
	/* what runs inside another evaluation gives the record back as it was */
	bool nested = record->eval != 0;
	struct lb_thread outer;
	if (!run->plain) {
		run->outer = lb_innermost_run;
		lb_innermost_run = run;
	}
	if (__builtin_expect(nested, 0))
		outer = *record;
	lb_record_begin(&record->seq);
	record->eval = s->eval;
	record->done = 0;
	record->total = s->n;
	record->started_ns = lb_flight_self.now_ns;
	lb_record_end(&record->seq);

	bool ok;
	if (!LB_STEP || __builtin_expect(run->step == LB_STEP_OFF, 1) || !lb_step_through(run, record, &ok))
		ok = run_all(run, record);
	if (!ok) {
		if (run->failed && !run->plain)
			lb_tensor_retain(run->failed, LB_ONE_REF);
		lb_schedule_abandon(s, run->drop);
	}
	if (!run->plain)
		lb_innermost_run = run->outer;
	lb_record_begin(&record->seq);
	record->eval = record->tensor = 0;
	if (__builtin_expect(nested, 0)) {
		record->eval = outer.eval;
		record->tensor = outer.tensor;
		record->done = outer.done;
		record->total = outer.total;
		record->started_ns = outer.started_ns;
	}
	lb_record_end(&record->seq);
	return ok;
}

uint64_t lb_evaluation_number(void)
{
	enum lb_alone alone = lb_alone_begin();
	uint64_t number = lb_fetch_add(alone, &lb_root->last_eval, 1) + 1;
	lb_alone_end(alone);
	return number;
}

void lb_evaluation_init(struct lb_evaluation *e, uint64_t number, struct lb_arena *arena, struct lb_thread *record)
{
	e->number = number;
	e->streams[0] = e->streams[1] = 0;
	e->takes_queued = e->takes_all = e->traced = false;
	e->bad = NULL;
	e->arena = arena;
	e->record = record;
	e->ops = 0;
	e->blockers = NULL;
	e->n_blockers = 0;
	e->failure = NULL;
}

void lb_evaluation_end(struct lb_evaluation *e)
{
	struct lb_bad *next;
	for (struct lb_bad *bad = e->bad; bad; bad = next) {
		next = bad->next;
		lb_tensor_drop(bad->tensor, LB_ONE_REF);
		free(bad);
	}
	e->bad = NULL;
}

void lb_evaluation_drop_blockers(struct lb_evaluation *e)
{
	for (uint32_t i = 0; i < e->n_blockers; i++)
		lb_tensor_drop(e->blockers[i], LB_ONE_REF);
	e->n_blockers = 0;
}

/* t is held by the caller, who gives its reference here. */
static void note_bad(struct lb_evaluation *e, struct lb_tensor *t)
{
	struct lb_bad *bad = malloc(sizeof *bad);
	if (!bad) { /* then it may be tried once more */
		lb_tensor_drop(t, LB_ONE_REF);
		return;
	}
	bad->next = e->bad;
	bad->tensor = t;
	bad->failure = (struct lb_failure){
		.origin = lb_failure_origin(),
		.job = e->number,
		.site = (const void *)(uintptr_t)t->site,
	};
	snprintf(bad->failure.text, sizeof bad->failure.text, "%s", lb_error_message());
	e->bad = bad;
	e->failure = &bad->failure;
}

/* The schedule has met t, held by it, which has failed: true if it is known why. */
static bool find_failure(struct lb_evaluation *e, struct lb_tensor *t)
{
	for (struct lb_bad *bad = e->bad; bad && !e->failure; bad = bad->next) {
		if (bad->tensor == t)
			e->failure = &bad->failure;
	}
	if (!e->failure) {
		pthread_mutex_lock(&lb_wait.lock);
		const struct lb_failure *kept = lb_failure_of(t);
		if (kept) {
			e->kept = *kept;
			e->failure = &e->kept;
		}
		pthread_mutex_unlock(&lb_wait.lock);
	}
	lb_tensor_drop(t, LB_ONE_REF);
	return e->failure != NULL;
}

/* A debugger wants to know of graphs beyond a limit. True: it has changed its mind about steps. */
__attribute__((cold, noinline)) static bool tell_graph(const struct lb_evaluation *e, const struct lb_tensor *root,
						       const struct lb_run *run)
{
	if (!lb_lazy_claimed(run->schedule.n))
		return false;
	lb_probe_graph(root->id, (uint64_t)(uintptr_t)root, e->record->site, run->schedule.n, e->number);
	return run->step != lb_step_wanted();
}

static enum lb_built build_schedule(struct lb_evaluation *e, struct lb_run *run, int n, struct lb_tensor *const *roots)
{
	enum lb_built built;
	do {
		lb_evaluation_drop_blockers(e);
		lb_arena_reset(e->arena, (struct lb_arena_mark){ NULL, 0 });
		lb_run_init(run, e->arena, false);
		run->stops = e->takes_queued;
		run->traced = e->traced;
		run->step = lb_step_wanted();
		struct lb_schedule *s = &run->schedule;
		s->eval = e->number;
		s->streams[0] = e->streams[0];
		s->streams[1] = e->streams[1];
		s->takes_queued = e->takes_queued;
		s->takes_all = e->takes_all;
		s->bad = e->bad;
		s->apart = run->step == LB_STEP_OPS;
		built = lb_schedule_build(s, n, roots);
		e->blockers = s->blockers;
		e->n_blockers = s->n_blockers;
	} while (built == LB_MET_FAILURE && !find_failure(e, run->schedule.failed));
	return built;
}

enum lb_outcome lb_attempt(struct lb_evaluation *e, int n, struct lb_tensor *const *roots)
{
	struct lb_run run;
	e->failure = NULL;
	enum lb_built built = build_schedule(e, &run, n, roots);
	if (built == LB_BUILT && lb_lazy_limited() && tell_graph(e, roots[0], &run)) {
		lb_schedule_abandon(&run.schedule, run.drop);
		built = build_schedule(e, &run, n, roots);
	}
	if (built == LB_BUSY)
		return LB_BLOCKED;
	lb_evaluation_drop_blockers(e);
	if (built != LB_BUILT)
		return LB_FAILED;
	e->ops += run.schedule.n;
	if (lb_run_schedule(&run, e->record))
		return LB_DONE;
	if (!run.failed)
		return LB_STOPPED;
	note_bad(e, run.failed);
	return LB_FAILED;
}
