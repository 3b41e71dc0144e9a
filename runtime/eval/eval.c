#include "eval/eval.h"

#include "eval/debug.h"
#include "eval/stream.h"
#include "eval/wait.h"
#include "graph/start.h"
#include "memory/thread.h"
#include "probes.h"

/* After lb_start() has registered its own, so that the locks of memory are free again when the
 * child drops references. */
__attribute__((constructor)) static void start(void)
{
	lb_start();
	lb_watch_forks();
}

static bool refuse_to_wait(struct lb_evaluation *e)
{
	uint64_t id = e->blockers[0]->id;
	lb_evaluation_drop_blockers(e);
	/* it would wait for this thread's own claims, or while it holds them */
	return lb_fail("eval: tensor #%llu is being computed, and code that runs inside an evaluation "
		       "cannot wait for it; evaluate it afterwards",
		       (unsigned long long)id);
}

static void wait_for_blockers(struct lb_evaluation *e)
{
	const struct lb_tensor *first = e->blockers[0];
	pthread_mutex_lock(&lb_wait.lock);
	lb_wait_begin();
	uint64_t other = lb_stream_job_of(first);
	if (!other)
		other = __atomic_load_n(&first->eval, __ATOMIC_RELAXED);
	e->record->waits_for = other;
	lb_flight_clock();
	lb_probe_wait_start(e->number, other, first->id);
	while (lb_any_blocking(e->n_blockers, e->blockers))
		pthread_cond_wait(&lb_wait.done, &lb_wait.lock);
	e->record->waits_for = 0;
	lb_wait_end();
	pthread_mutex_unlock(&lb_wait.lock);
	lb_flight_clock();
	lb_probe_wait_done(e->number, other, first->id);
}

/* Until what was in the way is ready or free. */
static bool clear_the_way(struct lb_evaluation *e, const void *site)
{
	bool ok = lb_submit((int)e->n_blockers, e->blockers, site, true, e->traced);
	bool abandoned = false;
	for (uint32_t i = 0; i < e->n_blockers; i++)
		abandoned |= lb_debug_abandon(__atomic_load_n(&e->blockers[i]->eval, __ATOMIC_RELAXED));
	lb_wake_waiting();
	if (ok && !abandoned)
		wait_for_blockers(e);
	lb_evaluation_drop_blockers(e);
	return ok;
}

/* A failure that was kept is now known to the caller. */
static void deliver(struct lb_evaluation *e)
{
	if (e->failure != &e->kept)
		return;
	lb_fail_again(e->kept.site, e->kept.text);
	pthread_mutex_lock(&lb_wait.lock);
	lb_failure_forget(e->kept.origin);
	pthread_mutex_unlock(&lb_wait.lock);
}

static bool evaluate_roots(struct lb_evaluation *e, int n, struct lb_tensor *const *roots, bool nested,
			   const void *site)
{
	for (;;) {
		e->takes_all = nested || lb_stopping();
		switch (lb_attempt(e, n, roots)) {
		case LB_DONE: return true;
		case LB_STOPPED: return false;
		case LB_BLOCKED:
			if (nested ? !refuse_to_wait(e) : !clear_the_way(e, site))
				return false;
			break;
		case LB_FAILED:
			deliver(e);
			for (int i = 0; n > 1 && i < n; i++)
				evaluate_roots(e, 1, &roots[i], nested, site);
			return false;
		}
	}
}

bool lb_evaluate(int n, struct lb_tensor *const *roots, const void *site)
{
	enum { CLOCK_FROM = 16 }; /* ops after which an evaluation's end is timed */
	struct lb_self *self = lb_self();
	if (!self)
		return false;
	/* a release callback or a signal handler may evaluate while this thread does */
	struct lb_arena own = { 0 };
	bool nested = self->arena_busy;
	struct lb_evaluation e;
	lb_evaluation_init(&e, lb_evaluation_number(), nested ? &own : &self->arena, self->record);
	e.streams[0] = self->stream;
	self->arena_busy = true;
	e.traced = self->trace != NULL;
	__atomic_store_n(&self->record->site, (uint64_t)(uintptr_t)site, __ATOMIC_RELAXED);
	lb_flight_clock();
	lb_probe_eval_start(e.number, (uint64_t)(uintptr_t)site, n);
	bool ok = evaluate_roots(&e, n, roots, nested, site);
	if (e.ops >= CLOCK_FROM)
		lb_flight_clock();
	lb_probe_eval_done(e.number, (uint64_t)(uintptr_t)site, (int64_t)e.ops, ok);
	lb_evaluation_end(&e);
	lb_count(&lb_counters.evals, 1);
	lb_wake_waiting();

	if (nested) {
		lb_arena_destroy(&own);
	} else {
		lb_arena_trim(&self->arena);
		self->arena_busy = false;
	}
	return ok;
}

/* Its value has not only stayed: somebody wants it. */
static inline void note_asked(struct lb_tensor *x)
{
	if (__builtin_expect(lb_tensor_flags(x) & LB_FLAG_UNASKED, 0))
		__atomic_fetch_and(&x->flags, ~(uint32_t)LB_FLAG_UNASKED, __ATOMIC_RELAXED);
}

bool lb_eval_n(int n, lb_tensor *const *xs)
{
	LB_ENTER();
	if (n < 0)
		return lb_fail("eval: a list of %d tensors", n);
	if (!LB_GIVEN_LIST("eval", n, xs))
		return false;
	for (int i = 0; i < n; i++) {
		if (!xs[i])
			return lb_fail_null_at("eval", i, n);
	}
	bool ok = lb_evaluate(n, xs, site);
	for (int i = 0; i < n; i++)
		note_asked(xs[i]);
	return ok;
}

bool lb_ensure_ready(struct lb_tensor *x, const void *site)
{
	enum lb_state state = lb_tensor_state(x);
	if (state == LB_STATE_READY) {
		note_asked(x);
		return true;
	}
	/* one that is under way is waited for, as who queued it meant to */
	if (state == LB_STATE_LAZY && !(lb_tensor_flags(x) & LB_FLAG_QUEUED)) {
		lb_count(&lb_counters.implicit_evals, 1);
		lb_probe_implicit_eval(x->id, (uint64_t)(uintptr_t)x, (uint64_t)(uintptr_t)site);
	}
	bool ok = lb_evaluate(1, &x, site);
	note_asked(x); /* another thread may have computed it */
	return ok;
}
