#include "eval/eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/plural.h"
#include "eval/debug.h"
#include "eval/look.h"
#include "eval/run.h"
#include "eval/step.h"
#include "eval/stream.h"
#include "eval/wait.h"
#include "graph/lazy.h"
#include "graph/start.h"
#include "graph/program.h"
#include "memory/thread.h"
#include "probes.h"
#include "publish/root.h"

__thread struct lb_run *lb_innermost_run;

static bool is_own(uint64_t eval)
{
	for (const struct lb_run *run = lb_innermost_run; run; run = run->outer)
		if (run->schedule.eval == eval)
			return true;
	return false;
}

/* The other threads' evaluations do not go on in the child: what they had claimed is lazy
 * again. Their buffers are lost; giving them back would take locks. */
static void after_fork_in_child(void)
{
	struct lb_thread *own = lb_self_pointer ? lb_self_pointer->record : NULL, *thread;
	struct lb_tensor *t;

	for (uint64_t slot = 0; (t = lb_slab_at(LB_KIND_TENSOR, slot)); slot++) {
		if (lb_tensor_state(t) != LB_STATE_EVALUATING || is_own(t->eval))
			continue;
		if (t->seq & 1)
			lb_record_end(&t->seq);
		if (lb_tensor_flags(t) & LB_FLAG_DETACHED) { /* it was only settled any more */
			__atomic_store_n(&t->state, LB_STATE_READY, __ATOMIC_RELEASE);
			continue;
		}
		t->buffer = 0;
		lb_tensor_to_lazy(t, lb_buffer_drop);
	}
	for (uint64_t slot = 0; (thread = lb_slab_at(LB_KIND_THREAD, slot)); slot++) {
		if (thread == own)
			thread->id = (uint64_t)getpid(); /* the one thread's number */
		else
			thread->id = thread->eval = thread->tensor = thread->waits_for = 0;
	}
	lb_lazy_after_fork();
	lb_step_after_fork();
	lb_streams_after_fork();
}

static void before_fork(void)
{
	pthread_mutex_lock(&lb_wait.lock);
	lb_step_lock();
}

static void after_fork(void)
{
	lb_step_unlock();
	pthread_mutex_unlock(&lb_wait.lock);
}

/* After lb_start() has registered its own, so that the locks of memory are free again when the
 * child drops references. */
__attribute__((constructor)) static void watch_forks(void)
{
	lb_start();
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* ---- one step ---- */

static void release_inputs(struct lb_run *run, struct lb_tensor *t)
{
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		struct lb_step *input = lb_schedule_step(&run->schedule, lb_tensor_input(t, i));
		if (!input || (lb_is_constant(input->tensor) && lb_op_is_elementwise(t->op)))
			continue;
		if (--input->remaining == 0 && !input->stays && !input->finished) {
			input->finished = true;
			lb_tensor_to_lazy(input->tensor, run->drop);
		}
	}
}

static uint32_t last_op(const struct lb_tensor *t)
{
	const struct lb_program *program = t->op == LB_OP_FUSED ? lb_tensor_program(t) : NULL;
	return program ? program->insns[program->n_insns - 1].op : t->op;
}

/* The step has run: what only it needed goes, and its own value stays, or is kept for its
 * consumers, or was never made. */
static void settle(struct lb_run *run, struct lb_step *step)
{
	struct lb_tensor *t = step->tensor;
	/* once it is ready, another thread may release it */
	uint64_t id = t->id, site = t->site;
	uint32_t watched = lb_watched(t->watch), op = watched ? last_op(t) : 0;
	release_inputs(run, t);
	t->computed += !run->plain;
	if (step->stays) {
		step->finished = true;
		if (step->unasked)
			__atomic_fetch_or(&t->flags, LB_FLAG_UNASKED, __ATOMIC_RELAXED);
		if (!run->plain && !run->traced)
			lb_tensor_detach(t);
		__atomic_store_n(&t->state, LB_STATE_READY, __ATOMIC_RELEASE);
	} else if (!step->stored && lb_op_class(t->op) != LB_CLASS_VIEW) {
		step->finished = true;
		lb_tensor_to_lazy(t, run->drop);
	}
	if ((watched & LB_WATCH_EVAL) && !run->plain)
		lb_probe_eval_tensor(id, (uint64_t)(uintptr_t)t, site, op);
}

/* Members from the first to the head; a member may be freed as soon as the head is settled. */
static void finish_group(struct lb_run *run, struct lb_step *head)
{
	struct lb_step *steps = run->schedule.steps;
	for (uint32_t m = head->next; m != LB_NO_STEP && !run->plain; m = steps[m].next)
		lb_look_at(&steps[m]);
	if (!run->plain)
		lb_look_at(head);
	for (uint32_t m = head->next; m != LB_NO_STEP; m = steps[m].next)
		settle(run, &steps[m]);
	settle(run, head);
}

static void tell_start(struct lb_tensor *t, uint32_t op, int64_t members, uint64_t site)
{
	lb_look_at_name(t);
	lb_probe_op_start(t->id, (uint64_t)(uintptr_t)t, op, members,
			  (uint64_t)(uintptr_t)lb_ops[op].name, site);
}

/* A debugger that looks at each operation sees those of a fused tensor, too. */
static inline bool is_apart(const struct lb_run *run, const struct lb_tensor *t)
{
	return t->op == LB_OP_FUSED && !run->plain && (lb_watched(t->watch) & LB_WATCH_EVAL);
}

static inline __attribute__((always_inline)) void begin_step(struct lb_run *run, const struct lb_step *step,
			      struct lb_thread *record, struct lb_under_way *u)
{
	enum { TIME_FROM = 1 << 16 };
	struct lb_tensor *t = step->tensor;

	u->steps = run->schedule.groups[step - run->schedule.steps].insns;
	u->members = t->op == LB_OP_FUSED ? lb_tensor_program(t)->n_insns : u->steps;
	u->start = t->size >= TIME_FROM || lb_event_mode(LB_EVENTS_TIMED) ? lb_flight_clock() : 0;
	u->mark = lb_arena_mark(run->arena);
	record->at_once = (uint64_t)u->steps;
	record->tensor = t->id;
	u->apart = is_apart(run, t);
	if (!run->plain && !u->apart)
		tell_start(t, t->op, u->members, t->site);
}

static inline __attribute__((always_inline)) bool end_step(struct lb_run *run, struct lb_step *step, struct lb_thread *record,
			    const struct lb_under_way *u, bool ok)
{
	struct lb_tensor *t = step->tensor;

	uint64_t ns = u->start ? lb_flight_clock() - u->start : 0;

	if (ns)
		t->eval_ns = ns;
	if (!run->plain)
		lb_probe_op_done(t->id, (uint64_t)(uintptr_t)t, u->apart ? last_op(t) : t->op, ok, ns);
	if (ok) /* else it may have memory, but has no value */
		record->tensor = 0;
	record->done += (uint64_t)u->steps;
	lb_arena_reset(run->arena, u->mark);
	if (!ok)
		return false;
	lb_count(&lb_counters.ops, (uint64_t)u->members);
	if (u->members > 1 && !u->apart)
		lb_count(&lb_counters.fused, (uint64_t)u->members);
	finish_group(run, step);
	return true;
}

static bool run_insn(struct lb_run *run, struct lb_tensor *t, int k, void **registers,
		     const struct lb_under_way *u)
{
	const struct lb_program *program = lb_tensor_program(t);
	uint32_t op = program->insns[k].op;

	if (u->apart)
		tell_start(t, op, k + 1 == program->n_insns, program->sites[k] ? program->sites[k] : t->site);
	bool ok = lb_run_insn(run, t, k, registers);
	if (u->apart && k + 1 < program->n_insns)
		lb_probe_op_done(t->id, (uint64_t)(uintptr_t)t, op, ok, 0);
	return ok;
}

static bool run_apart(struct lb_run *run, struct lb_tensor *t, const struct lb_under_way *u)
{
	void *registers[LB_FUSE_REGS];
	bool ok = true;
	for (int k = 0; k < lb_tensor_program(t)->n_insns && ok; k++)
		ok = run_insn(run, t, k, registers, u);
	return ok;
}

static inline __attribute__((always_inline)) bool run_step(struct lb_run *run, struct lb_step *step, struct lb_thread *record)
{
	struct lb_tensor *t = step->tensor;
	struct lb_under_way under_way;

	begin_step(run, step, record, &under_way);
	bool chain = lb_op_is_elementwise(t->op) || t->op == LB_OP_FUSED;
	bool ok = under_way.apart ? run_apart(run, t, &under_way)
		: chain ? lb_run_chain(run, step) : lb_run_single(run, t);
	return end_step(run, step, record, &under_way, ok);
}

static bool note_failure(struct lb_run *run, struct lb_tensor *t, bool ok)
{
	if (!ok && !lb_stopping())
		run->failed = t;
	return ok;
}

/* ---- an evaluation ---- */

static bool may_go_on(const struct lb_run *run)
{
	return !(run->stops && lb_stopping());
}

bool lb_run_group(struct lb_run *run, uint32_t index, struct lb_thread *record)
{
	struct lb_step *step = &run->schedule.steps[index];
	struct lb_tensor *t = step->tensor;

	return note_failure(run, t, may_go_on(run) && run_step(run, step, record));
}

bool lb_run_group_insn(struct lb_run *run, uint32_t index, int k, struct lb_thread *record,
		       struct lb_under_way *under_way, void **registers)
{
	struct lb_step *step = &run->schedule.steps[index];
	struct lb_tensor *t = step->tensor;
	bool last = k + 1 == lb_tensor_program(t)->n_insns;

	if (k == 0)
		begin_step(run, step, record, under_way);
	bool ok = may_go_on(run) && run_insn(run, t, k, registers, under_way);
	if (last || !ok)
		ok = end_step(run, step, record, under_way, ok);
	return note_failure(run, t, ok);
}

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

/* ---- an attempt ---- */

uint64_t lb_evaluation_number(void)
{
	return __atomic_add_fetch(&lb_root->last_eval, 1, __ATOMIC_RELAXED);
}

void lb_evaluation_init(struct lb_evaluation *e, uint64_t number, struct lb_arena *arena,
			struct lb_thread *record)
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
		.origin = lb_failure_origin(), .job = e->number,
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

static enum lb_built build(struct lb_evaluation *e, struct lb_run *run, int n, struct lb_tensor *const *roots)
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
	enum lb_built built = build(e, &run, n, roots);
	if (built == LB_BUILT && lb_lazy_limited() && tell_graph(e, roots[0], &run)) {
		lb_schedule_abandon(&run.schedule, run.drop);
		built = build(e, &run, n, roots);
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

/* ---- a synchronous evaluation ---- */

static bool refuse_to_wait(struct lb_evaluation *e)
{
	uint64_t id = e->blockers[0]->id;
	lb_evaluation_drop_blockers(e);
	/* it would wait for this thread's own claims, or while it holds them */
	return lb_fail("eval: tensor #%llu is being computed, and what runs inside an evaluation "
		       "cannot wait for it; evaluate it afterwards", (unsigned long long)id);
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

static bool evaluate(struct lb_evaluation *e, int n, struct lb_tensor *const *roots, bool nested,
		     const void *site)
{
	for (;;) {
		e->takes_all = nested || lb_stopping();
		switch (lb_attempt(e, n, roots)) {
		case LB_DONE:
			return true;
		case LB_STOPPED:
			return false;
		case LB_BLOCKED:
			if (nested ? !refuse_to_wait(e) : !clear_the_way(e, site))
				return false;
			break;
		case LB_FAILED:
			deliver(e);
			for (int i = 0; n > 1 && i < n; i++)
				evaluate(e, 1, &roots[i], nested, site);
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
	bool ok = evaluate(&e, n, roots, nested, site);
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
