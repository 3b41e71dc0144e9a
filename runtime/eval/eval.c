#include "eval/eval.h"

#include <pthread.h>
#include <unistd.h>

#include "eval/debug.h"
#include "eval/run.h"
#include "memory/thread.h"
#include "probes.h"
#include "publish/root.h"

/* ---- waiting for evaluations of other threads ---- */

static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int waiting;

static void wait_for(struct lb_tensor *busy, struct lb_thread *record)
{
	pthread_mutex_lock(&done_lock);
	__atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
	record->waits_for = __atomic_load_n(&busy->eval, __ATOMIC_RELAXED);
	while (__atomic_load_n(&busy->state, __ATOMIC_SEQ_CST) == LB_STATE_EVALUATING)
		pthread_cond_wait(&done, &done_lock);
	record->waits_for = 0;
	__atomic_sub_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&done_lock);
}

static void wake_waiting(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) == 0)
		return;
	pthread_mutex_lock(&done_lock);
	pthread_cond_broadcast(&done);
	pthread_mutex_unlock(&done_lock);
}

/* The other threads' evaluations do not go on in the child: what they had claimed is lazy
 * again. Their buffers are lost; giving them back would take locks. */
static void after_fork_in_child(void)
{
	static const pthread_mutex_t fresh_lock = PTHREAD_MUTEX_INITIALIZER;
	static const pthread_cond_t fresh_done = PTHREAD_COND_INITIALIZER;
	struct lb_thread *own = lb_self_pointer ? lb_self_pointer->record : NULL, *thread;
	struct lb_tensor *t;

	done_lock = fresh_lock;
	done = fresh_done;
	waiting = 0;
	for (uint64_t slot = 0; (t = lb_slab_at(LB_KIND_TENSOR, slot)); slot++) {
		if (lb_tensor_state(t) != LB_STATE_EVALUATING || (own && t->eval == own->eval))
			continue;
		if (t->seq & 1)
			lb_record_end(&t->seq);
		t->buffer = 0;
		lb_tensor_to_lazy(t, lb_buffer_drop);
	}
	for (uint64_t slot = 0; (thread = lb_slab_at(LB_KIND_THREAD, slot)); slot++) {
		if (thread == own)
			thread->id = (uint64_t)getpid(); /* the one thread's number */
		else
			thread->id = thread->eval = thread->tensor = thread->waits_for = 0;
	}
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, after_fork_in_child);
}

/* ---- one step ---- */

/* When a debugger or a tracer asked for it. */
static void look_for_nan(const struct lb_step *step)
{
	struct lb_tensor *t = step->tensor;
	if (!step->stored || !((lb_watched(t->watch) & LB_WATCH_NAN) || lb_probe_nan_on()))
		return;
	if (!lb_dtype_is_inexact(t->dtype) || lb_op_class(t->op) == LB_CLASS_VIEW || !t->buffer)
		return;
	int64_t first = 0;
	const void *data = lb_tensor_data(t);
	if (lb_count_nonfinite(data, (enum lb_dtype)t->dtype, t->size, &first) == 0)
		return;
	int64_t count = lb_count_nonfinite(data, (enum lb_dtype)t->dtype, t->size, NULL);
	lb_count(&lb_counters.nan_seen, 1);
	lb_probe_nan(t->id, (uint64_t)(uintptr_t)t, t->site, count, first);
}


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

/* The step has run: what only it needed goes, and its own value stays, or is kept for its
 * consumers, or was never made. */
static void settle(struct lb_run *run, struct lb_step *step)
{
	struct lb_tensor *t = step->tensor;
	/* once it is ready, another thread may release it */
	uint64_t id = t->id, site = t->site;
	uint32_t watched = lb_watched(t->watch);
	release_inputs(run, t);
	if (step->stays) {
		step->finished = true;
		if (!run->plain && !run->traced)
			lb_tensor_detach(t);
		__atomic_store_n(&t->state, LB_STATE_READY, __ATOMIC_RELEASE);
	} else if (!step->stored && lb_op_class(t->op) != LB_CLASS_VIEW) {
		step->finished = true;
		lb_tensor_to_lazy(t, run->drop);
	}
	if ((watched & LB_WATCH_EVAL) && !run->plain)
		lb_probe_eval_tensor(id, (uint64_t)(uintptr_t)t, site);
}

/* Members from the first to the head; a member may be freed as soon as the head is settled. */
static void finish_group(struct lb_run *run, struct lb_step *head)
{
	struct lb_step *steps = run->schedule.steps;
	for (uint32_t m = head->next; m != LB_NO_STEP && !run->plain; m = steps[m].next)
		look_for_nan(&steps[m]);
	if (!run->plain)
		look_for_nan(head);
	for (uint32_t m = head->next; m != LB_NO_STEP; m = steps[m].next)
		settle(run, &steps[m]);
	settle(run, head);
}

static bool run_step(struct lb_run *run, struct lb_step *step, struct lb_thread *record)
{
	enum { TIME_FROM = 1 << 16 };
	struct lb_tensor *t = step->tensor;
	bool chain = lb_op_is_elementwise(t->op);
	int members = run->schedule.groups[step - run->schedule.steps].insns;
	bool timed = t->size >= TIME_FROM;
	uint64_t start = timed ? lb_flight_clock() : 0;
	struct lb_arena_mark mark = lb_arena_mark(run->arena);

	record->tensor = t->id;
	if (!run->plain)
		lb_probe_op_start(t->id, (uint64_t)(uintptr_t)t, t->op, members);
	bool ok = chain ? lb_run_chain(run, step) : lb_run_single(run, t);
	if (timed)
		t->eval_ns = lb_flight_clock() - start;
	if (!run->plain)
		lb_probe_op_done(t->id, (uint64_t)(uintptr_t)t, t->op, ok);
	record->tensor = 0;
	record->done += (uint64_t)members;
	lb_arena_reset(run->arena, mark);
	if (!ok)
		return false;
	lb_count(&lb_counters.ops, (uint64_t)members);
	if (members > 1)
		lb_count(&lb_counters.fused, (uint64_t)members);
	finish_group(run, step);
	return true;
}

/* ---- an evaluation ---- */

bool lb_run_schedule(struct lb_run *run, struct lb_thread *record)
{
	struct lb_schedule *s = &run->schedule;
	/* what runs inside another evaluation gives the record back as it was */
	struct lb_thread outer = *record;
	lb_record_begin(&record->seq);
	record->eval = s->eval;
	record->done = 0;
	record->total = s->n;
	record->started_ns = lb_flight_self.now_ns;
	lb_record_end(&record->seq);

	bool ok = true;
	for (uint32_t i = 0; i < s->n && ok; i++) {
		uint32_t index = s->order[i];
		if (s->steps[index].group == index)
			ok = run_step(run, &s->steps[index], record);
	}
	if (!ok)
		lb_schedule_abandon(s, run->drop);
	lb_record_begin(&record->seq);
	record->eval = outer.eval;
	record->tensor = outer.tensor;
	record->done = outer.eval ? outer.done : record->done;
	record->total = outer.eval ? outer.total : record->total;
	record->started_ns = outer.eval ? outer.started_ns : record->started_ns;
	lb_record_end(&record->seq);
	return ok;
}

static struct lb_arena *thread_arena(struct lb_self *self)
{
	return self->arena_busy ? NULL : &self->arena;
}

bool lb_evaluate(int n, struct lb_tensor *const *roots, const void *site)
{
	enum { CLOCK_FROM = 16 }; /* ops after which an evaluation's end is timed */
	struct lb_self *self = lb_self();
	if (!self)
		return false;
	/* a release callback or a signal handler may evaluate while this thread does */
	struct lb_arena own = { 0 }, *arena = thread_arena(self);
	bool nested = !arena;
	if (nested)
		arena = &own;
	self->arena_busy = true;

	uint64_t eval = __atomic_add_fetch(&lb_root->last_eval, 1, __ATOMIC_RELAXED);
	struct lb_run run;
	enum lb_built built;
	lb_flight_clock();
	lb_probe_eval_start(eval, (uint64_t)(uintptr_t)site, n);
	for (;;) {
		lb_run_init(&run, arena, false);
		run.traced = self->trace != NULL;
		run.schedule.eval = eval;
		built = lb_schedule_build(&run.schedule, n, roots);
		if (built != LB_BUSY)
			break;
		if (lb_debug_abandon(__atomic_load_n(&run.schedule.busy->eval, __ATOMIC_RELAXED)))
			continue;
		if (nested) { /* it would wait for this thread's own claims, or while it holds them */
			lb_fail("eval: tensor #%llu is being computed, and what runs inside an evaluation "
				"cannot wait for it; evaluate it afterwards",
				(unsigned long long)run.schedule.busy->id);
			break;
		}
		wake_waiting();
		wait_for(run.schedule.busy, self->record);
		lb_arena_reset(arena, (struct lb_arena_mark){ NULL, 0 });
	}
	bool ok = built == LB_BUILT && lb_run_schedule(&run, self->record);
	if (run.schedule.n >= CLOCK_FROM)
		lb_flight_clock();
	lb_probe_eval_done(eval, (uint64_t)(uintptr_t)site, run.schedule.n, ok);
	lb_count(&lb_counters.evals, 1);
	wake_waiting();

	if (nested) {
		lb_arena_destroy(&own);
	} else {
		lb_arena_trim(arena);
		self->arena_busy = false;
	}
	return ok;
}

bool lb_eval_n(int n, lb_tensor *const *xs)
{
	LB_ENTER();
	if (n < 0 || (n > 0 && !xs))
		return lb_fail("eval: a list of %d tensors%s", n, xs ? "" : " is NULL");
	for (int i = 0; i < n; i++) {
		if (!xs[i])
			return false;
	}
	return lb_evaluate(n, xs, site);
}

bool lb_ensure_ready(struct lb_tensor *x, const void *site)
{
	if (lb_tensor_state(x) == LB_STATE_READY)
		return true;
	lb_count(&lb_counters.implicit_evals, 1);
	lb_probe_implicit_eval(x->id, (uint64_t)(uintptr_t)x, (uint64_t)(uintptr_t)site);
	return lb_evaluate(1, &x, site);
}
