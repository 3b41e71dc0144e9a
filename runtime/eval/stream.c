/* A stream is a queue of jobs and a thread that works on it, made at the first job. A job asks
 * for the values of some tensors, its roots. It claims nothing while it is queued: claims are
 * taken when it runs, as in any evaluation (schedule.h), so whoever needs a queued tensor and
 * may not wait can compute it, and the job then finds it ready.
 *
 * What a root needs of another stream becomes a job there, and the root is set aside until that
 * has ended. Nothing ever waits for a queue, or for a job's turn: a worker takes the first job
 * with a root that can go on, and sleeps only when there is none. So a root waits only for
 * tensors that it is made of (its blockers, and claims of evaluations that are running, which
 * always end). That relation has no cycle; therefore among all the roots that have not been
 * computed there is always one that waits for nothing, and its worker finds it: no deadlock,
 * whatever the order of jobs. It is why the roots of one job, which may wait for each other
 * by way of another stream, are tried together first and then one by one; and that is also how
 * the roots that do not need a failed operation get their values.
 *
 * A thread outside evaluations may wait for jobs, since it holds no claims then. What runs
 * inside one (a release callback; everything on a worker) may not.
 *
 * lb_wait.lock guards everything here, except a running job's blockers: they are its worker's. */
#define _GNU_SOURCE
#include "eval/stream.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "eval/eval.h"
#include "eval/wait.h"
#include "graph/scope.h"
#include "memory/thread.h"
#include "probes.h"
#include "publish/records.h"
#include "publish/root.h"

enum { QUEUED_MOST = 32 }; /* jobs that a program may be ahead of a stream */

struct root {
	struct lb_tensor *tensor; /* held; NULL once that is settled */
	struct lb_tensor **blockers;
	uint32_t n_blockers;
};

struct job {
	struct job *next;
	uint64_t number; /* its evaluation's, too */
	const void *site;
	bool traced; /* asked for while a gradient was traced */
	bool begun, failed;
	uint64_t ops; /* that its attempts ran */
	int n, n_left;
	struct root roots[];
};

static struct stream {
	struct lb_stream_record *record;
	struct job *first; /* by number */
	struct job *running;
	uint64_t newest;
	pthread_cond_t wake;
	pthread_t thread;
	bool has_thread;
	char error[LB_ERROR_MAX];
} streams[LB_STREAMS] = {
	[0 ... LB_STREAMS - 1] = { .wake = PTHREAD_COND_INITIALIZER },
};
static uint32_t n_streams = 1;

static uint32_t number_of(const struct stream *s)
{
	return (uint32_t)(s - streams);
}

/* ---- what is published ---- */

static bool publish(struct stream *s, const char *name)
{
	struct lb_self *self = lb_self();
	if (s->record)
		return true;
	char *copy = name && *name ? strndup(name, LB_NAME_MAX) : NULL;
	if (name && *name && !copy)
		return lb_fail("out of memory for a stream's name");
	struct lb_stream_record *record =
	    self ? lb_slab_take(LB_KIND_STREAM, &self->magazines[LB_KIND_STREAM], true) : NULL;
	if (!record) {
		free(copy);
		return false;
	}
	lb_record_begin(&record->seq);
	record->generation++;
	record->id = number_of(s);
	record->name = (uint64_t)(uintptr_t)copy;
	lb_record_end(&record->seq);
	s->record = record;
	return true;
}

/* Readers see all of the statement's changes or none; in it the stream's record is called `it`. */
#define UPDATE(s, it, statement) \
	do { \
		struct lb_stream_record *it = (s)->record; \
		lb_record_begin(&it->seq); \
		statement; \
		lb_record_end(&it->seq); \
	} while (0)

/* ---- jobs ---- */

static void free_job(struct job *job)
{
	for (int i = 0; i < job->n; i++) {
		struct root *root = &job->roots[i];
		for (uint32_t k = 0; k < root->n_blockers; k++)
			lb_tensor_drop(root->blockers[k], LB_ONE_REF);
		free(root->blockers);
		if (root->tensor)
			lb_tensor_drop(root->tensor, LB_ONE_REF);
	}
	free(job);
}

static bool wants_job(const struct lb_tensor *t, bool only_lazy)
{
	enum lb_state state = lb_tensor_state(t);
	return (state == LB_STATE_LAZY || (state == LB_STATE_EVALUATING && !only_lazy)) &&
	       !(lb_tensor_flags(t) & LB_FLAG_QUEUED);
}

static bool start_worker(struct stream *s);

/* One job for those of the tensors that are of this stream. */
static bool push_job(struct stream *s, int n, struct lb_tensor *const *xs, const void *site, bool only_lazy,
		     bool traced)
{
	struct job *job = calloc(1, sizeof *job + (size_t)n * sizeof *job->roots);
	if (!job)
		return lb_fail("out of memory: a job of %d tensors cannot be queued", n);
	if (!publish(s, NULL) || !start_worker(s)) {
		free(job);
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (xs[i]->stream != number_of(s) || !wants_job(xs[i], only_lazy))
			continue;
		lb_tensor_retain(xs[i], LB_ONE_REF);
		__atomic_fetch_or(&xs[i]->flags, LB_FLAG_QUEUED, __ATOMIC_RELAXED);
		job->roots[job->n++].tensor = xs[i];
	}
	if (job->n == 0) { /* another thread has just computed them: nothing would ever end the job */
		free(job);
		return true;
	}
	job->n_left = job->n;
	job->number = s->newest = lb_evaluation_number();
	job->site = site;
	job->traced = traced;
	struct job **at = &s->first;
	while (*at)
		at = &(*at)->next;
	*at = job;
	UPDATE(s, record, record->queued++);
	lb_flight_clock();
	lb_probe_async_queue(job->number, number_of(s), (uint64_t)(uintptr_t)site, job->n);
	pthread_cond_signal(&s->wake);
	pthread_cond_broadcast(&lb_wait.done);
	return true;
}

bool lb_submit(int n, struct lb_tensor *const *xs, const void *site, bool only_lazy, bool traced)
{
	bool ok = true;
	pthread_mutex_lock(&lb_wait.lock);
	for (int i = 0; i < n && ok && !lb_stopping(); i++) {
		if (wants_job(xs[i], only_lazy))
			ok = push_job(&streams[xs[i]->stream], n - i, xs + i, site, only_lazy, traced);
	}
	pthread_mutex_unlock(&lb_wait.lock);
	return ok;
}

static bool has_room(int n, struct lb_tensor *const *xs)
{
	for (int i = 0; i < n; i++) {
		const struct lb_stream_record *record = streams[xs[i]->stream].record;
		if (record && record->queued >= QUEUED_MOST)
			return false;
	}
	return true;
}

void lb_await_room(int n, struct lb_tensor *const *xs)
{
	pthread_mutex_lock(&lb_wait.lock);
	if (!has_room(n, xs) && !lb_stopping()) {
		lb_wait_begin();
		lb_flight_clock();
		lb_probe_wait_start(0, 0, 0);
		while (!has_room(n, xs) && !lb_stopping())
			pthread_cond_wait(&lb_wait.done, &lb_wait.lock);
		lb_flight_clock();
		lb_probe_wait_done(0, 0, 0);
		lb_wait_end();
	}
	pthread_mutex_unlock(&lb_wait.lock);
}

/* ---- a job's roots, on its worker ---- */

/* A root may be in its own way: another thread was computing it when the job came to it. When that
 * thread has failed, it is lazy and queued again, by this very job. */
static bool can_go_on(const struct root *root)
{
	for (uint32_t i = 0; i < root->n_blockers; i++) {
		const struct lb_tensor *t = root->blockers[i];
		if (t == root->tensor ? lb_is_computed_now(t) : lb_is_blocking(t))
			return false;
	}
	return root->tensor != NULL;
}

static void forget_blockers(struct root *root)
{
	for (uint32_t i = 0; i < root->n_blockers; i++)
		lb_tensor_drop(root->blockers[i], LB_ONE_REF);
	free(root->blockers);
	root->blockers = NULL;
	root->n_blockers = 0;
}

/* The root has its value, or a failure. */
static void settle(struct stream *s, struct job *job, struct root *root, const struct lb_failure *failure)
{
	struct lb_tensor *t = root->tensor;
	pthread_mutex_lock(&lb_wait.lock);
	if (failure) {
		lb_failure_keep(t, failure);
		job->failed = true;
		UPDATE(s, record, memcpy(s->error, failure->text, sizeof s->error);
		       record->error = (uint64_t)(uintptr_t)s->error);
	}
	__atomic_fetch_and(&t->flags, ~(uint32_t)LB_FLAG_QUEUED, __ATOMIC_RELAXED);
	root->tensor = NULL;
	job->n_left--;
	pthread_cond_broadcast(&lb_wait.done);
	pthread_mutex_unlock(&lb_wait.lock);
	lb_tensor_drop(t, LB_ONE_REF);
}

static void settle_failed(struct stream *s, struct job *job, struct root *root, const struct lb_evaluation *e)
{
	struct lb_failure failure;
	if (e && e->failure) {
		failure = *e->failure;
	} else {
		failure.origin = lb_failure_origin();
		failure.site = job->site;
		snprintf(failure.text, sizeof failure.text, "%s", lb_error_message());
	}
	failure.job = job->number;
	settle(s, job, root, &failure);
}

/* Keeps the blockers, and has them computed. */
static bool set_aside(struct job *job, struct root *root, struct lb_evaluation *e)
{
	size_t nbytes = e->n_blockers * sizeof *root->blockers;
	if (!lb_submit((int)e->n_blockers, e->blockers, job->site, true, job->traced))
		return false;
	root->blockers = malloc(nbytes);
	if (!root->blockers)
		return lb_fail("out of memory: a job cannot wait for %u tensors", e->n_blockers);
	memcpy(root->blockers, e->blockers, nbytes);
	root->n_blockers = e->n_blockers;
	e->n_blockers = 0;
	return true;
}

static void run_root(struct stream *s, struct job *job, struct root *root, struct lb_evaluation *e)
{
	lb_fail_site(job->site);
	switch (lb_attempt(e, 1, &root->tensor)) {
	case LB_DONE: settle(s, job, root, NULL); break;
	case LB_BLOCKED:
		if (!set_aside(job, root, e))
			settle_failed(s, job, root, NULL);
		break;
	case LB_FAILED: settle_failed(s, job, root, e); break;
	case LB_STOPPED: break;
	}
	lb_clear_error();
	lb_evaluation_drop_blockers(e);
	lb_wake_waiting();
}

static void run_roots(struct stream *s, struct job *job, int n, struct root **roots, struct lb_tensor **tensors,
		      struct lb_evaluation *e)
{
	if (n > 1) {
		enum lb_outcome outcome = lb_attempt(e, n, tensors);
		lb_clear_error();
		lb_evaluation_drop_blockers(e);
		lb_wake_waiting();
		for (int i = 0; outcome == LB_DONE && i < n; i++)
			settle(s, job, roots[i], NULL);
		if (outcome == LB_DONE)
			return;
	}
	for (int i = 0; i < n && !lb_stopping(); i++)
		run_root(s, job, roots[i], e);
}

static void run_job(struct stream *s, struct job *job)
{
	struct lb_self *self = lb_self();
	lb_auto_free struct root **roots = malloc((size_t)job->n * sizeof *roots);
	lb_auto_free struct lb_tensor **tensors = malloc((size_t)job->n * sizeof *tensors);
	struct lb_evaluation e;
	int n = 0;

	if (self)
		self->arena_busy = true; /* whatever runs here runs inside an evaluation */
	if (!self || !roots || !tensors) {
		lb_fail("out of memory: a job cannot run");
		for (int i = 0; i < job->n; i++) {
			if (job->roots[i].tensor)
				settle_failed(s, job, &job->roots[i], NULL);
		}
		lb_clear_error();
	} else {
		for (int i = 0; i < job->n; i++) {
			if (!can_go_on(&job->roots[i]))
				continue;
			forget_blockers(&job->roots[i]);
			roots[n] = &job->roots[i];
			tensors[n++] = job->roots[i].tensor;
		}
		lb_evaluation_init(&e, job->number, &self->arena, self->record);
		e.traced = job->traced;
		e.streams[0] = e.streams[1] = number_of(s);
		e.takes_queued = true;
		LB_SCOPE
			run_roots(s, job, n, roots, tensors, &e);
		job->ops += e.ops;
		lb_evaluation_end(&e);
		lb_arena_trim(&self->arena);
	}
}

/* What the job needs first, when it is set aside. */
static void tell_pause(const struct stream *s, const struct job *job)
{
	for (int i = 0; i < job->n; i++) {
		const struct root *root = &job->roots[i];
		if (!root->tensor || root->n_blockers == 0)
			continue;
		const struct lb_tensor *first = root->blockers[0];
		pthread_mutex_lock(&lb_wait.lock);
		uint64_t other = lb_stream_job_of(first);
		pthread_mutex_unlock(&lb_wait.lock);
		lb_probe_async_pause(job->number, number_of(s),
				     other ? other : __atomic_load_n(&first->eval, __ATOMIC_RELAXED), first->id);
		return;
	}
}

/* One evaluation, however often it is set aside. */
static void attempt_job(struct stream *s, struct job *job)
{
	uint64_t site = (uint64_t)(uintptr_t)job->site;

	lb_flight_clock();
	if (job->begun)
		lb_probe_async_resume(job->number, number_of(s));
	else
		lb_probe_eval_start(job->number, site, job->n);
	job->begun = true;
	run_job(s, job);
	lb_flight_clock();
	if (job->n_left == 0)
		lb_probe_eval_done(job->number, site, (int64_t)job->ops, !job->failed);
	else
		tell_pause(s, job);
}

/* ---- the worker ---- */

static struct job *next_job(const struct stream *s)
{
	for (struct job *job = s->first; job; job = job->next) {
		for (int i = 0; i < job->n; i++) {
			if (can_go_on(&job->roots[i]))
				return job;
		}
	}
	return NULL;
}

static struct job *await_job(struct stream *s)
{
	struct job *job = NULL;
	while (lb_stopping() || !s->first)
		pthread_cond_wait(&s->wake, &lb_wait.lock);
	lb_wait_begin();
	while (!lb_stopping() && !(job = next_job(s)))
		pthread_cond_wait(&lb_wait.done, &lb_wait.lock);
	lb_wait_end();
	return job;
}

static void unlink_job(struct stream *s, struct job *job)
{
	struct job **at = &s->first;
	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
}

static void *worker_main(void *arg)
{
	struct stream *s = arg;
	struct lb_self *self = lb_self();
	if (self)
		self->stream = number_of(s);
	lb_clear_error();
	pthread_mutex_lock(&lb_wait.lock);
	UPDATE(s, record, record->thread = (uint64_t)syscall(SYS_gettid));
	for (;;) {
		struct job *job = await_job(s);
		if (!job)
			continue;
		s->running = job;
		UPDATE(s, record, record->queued--; record->eval = job->number);
		pthread_mutex_unlock(&lb_wait.lock);
		attempt_job(s, job);
		pthread_mutex_lock(&lb_wait.lock);
		s->running = NULL;
		bool ended = job->n_left == 0;
		if (ended)
			unlink_job(s, job);
		UPDATE(s, record, record->eval = 0; record->queued += !ended; record->done += ended;
		       record->failed += ended && job->failed);
		pthread_cond_broadcast(&lb_wait.done);
		if (!ended)
			continue;
		lb_probe_async_done(job->number, number_of(s), !job->failed);
		pthread_mutex_unlock(&lb_wait.lock);
		lb_count(&lb_counters.evals, 1);
		free_job(job);
		pthread_mutex_lock(&lb_wait.lock);
	}
	return NULL;
}

static bool any_running(void)
{
	for (uint32_t i = 0; i < n_streams; i++) {
		if (streams[i].running && !pthread_equal(streams[i].thread, pthread_self()))
			return true;
	}
	return false;
}

/* At exit(): libraries take themselves down next, and must not do so under a kernel. */
static void stop_workers(void)
{
	pthread_mutex_lock(&lb_wait.lock);
	__atomic_store_n(&lb_wait.stopping, true, __ATOMIC_RELAXED);
	lb_wait_begin();
	pthread_cond_broadcast(&lb_wait.done);
	while (any_running())
		pthread_cond_wait(&lb_wait.done, &lb_wait.lock);
	lb_wait_end();
	pthread_mutex_unlock(&lb_wait.lock);
}

static void name_worker(struct stream *s)
{
	char name[16];
	const char *own = (const char *)(uintptr_t)s->record->name;
	if (own)
		snprintf(name, sizeof name, "lb:%s", own);
	else
		snprintf(name, sizeof name, "lb:stream-%u", number_of(s));
	pthread_setname_np(s->thread, name);
}

static bool start_worker(struct stream *s)
{
	static bool exits;
	pthread_attr_t attr;
	sigset_t all, old;
	if (s->has_thread)
		return true;
	if (!exits && atexit(stop_workers) != 0)
		return lb_fail("stream %u: out of memory for its thread", number_of(s));
	exits = true;
	if (pthread_attr_init(&attr) != 0)
		return lb_fail("stream %u: out of memory for its thread", number_of(s));
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int error = pthread_create(&s->thread, &attr, worker_main, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (error)
		return lb_fail("stream %u: no thread could be started for it: %s", number_of(s), strerror(error));
	s->has_thread = true;
	name_worker(s);
	return true;
}

/* ---- for who waits ---- */

uint64_t lb_stream_newest(uint32_t stream)
{
	return streams[stream].newest;
}

bool lb_stream_has_done(uint32_t stream, uint64_t job)
{
	const struct job *first = streams[stream].first;
	return !first || first->number > job;
}

uint64_t lb_stream_job_of(const struct lb_tensor *t)
{
	for (const struct job *job = streams[t->stream].first; job; job = job->next) {
		for (int i = 0; i < job->n; i++) {
			if (job->roots[i].tensor == t)
				return job->number;
		}
	}
	return 0;
}

uint32_t lb_stream_count(void)
{
	return __atomic_load_n(&n_streams, __ATOMIC_ACQUIRE);
}

bool lb_stream_make(const char *name, uint32_t *ret)
{
	pthread_mutex_lock(&lb_wait.lock);
	bool ok = n_streams < LB_STREAMS ||
		  lb_fail("stream_new: there are already %d streams, and there can be no more", LB_STREAMS);
	if (ok && publish(&streams[n_streams], name)) {
		*ret = n_streams;
		__atomic_store_n(&n_streams, n_streams + 1, __ATOMIC_RELEASE);
	} else {
		ok = false;
	}
	pthread_mutex_unlock(&lb_wait.lock);
	return ok;
}

/* The queue's reference becomes one of the scope that the child is in: nothing is freed here,
 * where that could run the program's own code. */
static void give_away(struct lb_tensor *t)
{
	struct lb_self *self = lb_self_pointer;
	if (!self || !lb_scope_reserve(self))
		return;
	lb_tensor_retain(t, LB_SCOPE_REF);
	lb_scope_add(self, t);
	lb_tensor_drop(t, LB_ONE_REF);
}

/* Its tensors are merely lazy. What its worker was about is left alone. */
static void give_up(struct job *job, bool was_running)
{
	for (int i = 0; i < job->n; i++) {
		struct root *root = &job->roots[i];
		for (uint32_t k = 0; k < root->n_blockers && !was_running; k++)
			give_away(root->blockers[k]);
		if (!root->tensor)
			continue;
		__atomic_fetch_and(&root->tensor->flags, ~(uint32_t)LB_FLAG_QUEUED, __ATOMIC_RELAXED);
		give_away(root->tensor);
		if (!was_running)
			free(root->blockers);
	}
	if (!was_running)
		free(job);
}

void lb_streams_after_fork(void)
{
	static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER; /* who waited is not here */
	bool clean = lb_ok();
	lb_wait.done = fresh;
	lb_wait.waiting = 0;
	lb_wait.stopping = false;
	pthread_mutex_unlock(&lb_wait.lock); /* this thread took it for the fork */
	for (uint32_t i = 0; i < n_streams; i++) {
		struct stream *s = &streams[i];
		s->wake = fresh;
		/* a worker that forks goes on with its job, as the child's only thread */
		bool own = s->running && pthread_equal(s->thread, pthread_self());
		s->has_thread = own;
		for (struct job *job = s->first, *next; job; job = next) {
			next = job->next;
			if (!own || job != s->running)
				give_up(job, job == s->running);
		}
		s->first = own ? s->running : NULL;
		if (own)
			s->running->next = NULL;
		else
			s->running = NULL;
		if (s->record)
			UPDATE(s, record, record->queued = 0; record->thread = own ? record->thread : 0;
			       record->eval = own ? record->eval : 0);
	}
	if (clean)
		lb_clear_error();
}
