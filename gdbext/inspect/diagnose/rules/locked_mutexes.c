/* Threads that wait for each other's mutexes, or for one whose owner has ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose/eval_waits.h"
#include "inspect/diagnose/rule.h"
#include "inspect/operand/frames.h"
#include "inspect/tensor/describe.h"

enum { THREADS_MOST = 4096, FRAMES = 24, INNERMOST = 8, CONTENDED = 2, KINDS = 4, KIND_MASK = 127 };

/* The beginning of glibc's pthread_mutex_t on machines of 64 bits (struct __pthread_mutex_s). */
struct mutex {
	int32_t lock;
	uint32_t count;
	int32_t owner; /* the thread's number */
	uint32_t users;
	int32_t kind;
};

/* Which thread waits for which: for a mutex that it holds, for its end, or for what it evaluates. */
enum waits_for { MUTEX, END, EVALUATION };
struct edge {
	enum waits_for what;
	uint64_t tid, owner;
	uint64_t address; /* of the mutex, or of the word that is cleared at the end */
	uint64_t eval;    /* its number, or that of a stream's job */
};

struct graph {
	struct lbx_case *c;
	int n, n_threads;
	struct lbx_wait threads[THREADS_MOST];
	uint64_t tids[THREADS_MOST];
	struct edge edges[THREADS_MOST];
};

static bool is_thread(const struct graph *g, uint64_t tid)
{
	for (int i = 0; i < g->n_threads; i++)
		if (g->threads[i].tid == tid)
			return true;
	return false;
}

/* A mutex that somebody waits for, by what it holds. */
static bool read_edge(struct graph *g, const struct lbx_wait *wait, struct edge *ret)
{
	struct lbx_target *target = g->c->context->target;
	struct mutex m;

	*ret = (struct edge){ .tid = wait->tid, .address = wait->address };
	if (wait->address % sizeof m.lock || !lbx_target_try_read(target, wait->address, &m.lock, sizeof m.lock))
		return false;
	if (m.lock > CONTENDED) { /* what pthread_join() waits for is the other's number, which the kernel clears */
		ret->what = END;
		ret->owner = lbx_target_thread(target, (uint64_t)m.lock);
		return ret->owner != wait->tid;
	}
	if (!lbx_target_try_read(target, wait->address, &m, sizeof m) || m.lock != CONTENDED || m.owner <= 0 ||
	    m.users == 0 || m.kind < 0 || (m.kind & KIND_MASK) >= KINDS)
		return false;
	ret->owner = lbx_target_thread(target, (uint64_t)m.owner);
	return true;
}

/* What a thread waits for by the runtime's own record of it. */
static bool find_evaluation(const struct lbx_eval_waits *waits, uint64_t tid, struct edge *ret)
{
	const struct lbx_thread *thread = lbx_eval_waits_of(waits, tid);

	if (!thread)
		return false;
	*ret = (struct edge){ .what = EVALUATION, .tid = tid, .eval = thread->waits_for };
	ret->owner = lbx_eval_waits_runner(waits, thread->waits_for);
	return ret->owner != 0;
}

/* Whether it waits for that still. */
static bool waits_still(struct lbx_table *table, const struct edge *e)
{
	struct lbx_eval_waits waits = { .n = 0 };
	struct edge now;
	bool still = lbx_eval_waits_read(table, &waits) && find_evaluation(&waits, e->tid, &now) &&
		     now.owner == e->owner && now.eval == e->eval;

	lbx_eval_waits_deinit(&waits);
	return still;
}

static const struct edge *edge_of(const struct graph *g, uint64_t tid)
{
	for (int i = 0; i < g->n; i++)
		if (g->edges[i].tid == tid)
			return &g->edges[i];
	return NULL;
}

/* ---- what a thread does ---- */

/* Whether its innermost frames are those of such a wait; its own frame is told. A process that runs is held from here on,
 * which one with such a circle does not feel. */
static bool waits_so(struct graph *g, const struct edge *e, struct lbx_frame_view *ret)
{
	static const char *const locks[] = { "pthread_mutex_lock", "__pthread_mutex_lock", "___pthread_mutex_lock",
					     "pthread_mutex_timedlock", "pthread_mutex_clocklock" };
	static const char *const joins[] = { "pthread_join", "__pthread_join", "___pthread_join",
					     "__pthread_clockjoin_ex", "__pthread_timedjoin_ex" };
	const char *const *names = e->what == END ? joins : locks;
	struct lbx_case *c = g->c;
	struct edge now;
	struct lbx_thread_view view;
	bool clean = lb_ok(), found = false;

	if (!lbx_thread_view(c->context, NULL, e->tid, FRAMES, 0, &view)) {
		if (clean && lb_error_cause() != LB_INTERRUPTED)
			lb_clear_error();
		return false;
	}
	for (int i = 0; i < view.n && i < INNERMOST && !found; i++)
		for (size_t k = 0; k < sizeof locks / sizeof *locks && !found; k++)
			found = strcmp(view.frames[i].line.function, names[k]) == 0;
	const struct lbx_frame_view *own = lbx_thread_view_own(c->context, &view);
	*ret = own ? *own : (struct lbx_frame_view){ .line.function = "?" };
	ret->held = NULL;
	ret->n_held = 0;
	lbx_thread_view_release(&view);
	if (e->what == EVALUATION)
		return waits_still(c->table, e);
	return found && read_edge(g, &(struct lbx_wait){ e->tid, e->address }, &now) && now.owner == e->owner &&
	       now.what == e->what;
}

static void say_edge(struct lbx_diagnosed *f, const struct edge *e, const struct lbx_frame_view *frame)
{
	char where[512];

	lbx_describe_frame(frame, where, sizeof where);
	if (e->what == END)
		LBX_SAY(f->evidence, "%sThread %" PRIu64 " waits in %s for the end of thread %" PRIu64 ".",
			*f->evidence ? " " : "", e->tid, where, e->owner);
	else if (e->what == EVALUATION)
		LBX_SAY(f->evidence,
			"%sThread %" PRIu64 " waits in %s for evaluation %" PRIu64 ", which thread %" PRIu64
			" computes.",
			*f->evidence ? " " : "", e->tid, where, e->eval, e->owner);
	else
		LBX_SAY(f->evidence,
			"%sThread %" PRIu64 " waits in %s for the mutex at 0x%" PRIx64 ", which thread %" PRIu64
			" holds.",
			*f->evidence ? " " : "", e->tid, where, e->address, e->owner);
}

/* ---- findings ---- */

static bool has_mutex(const struct graph *g, const struct edge *first)
{
	const struct edge *e = first;

	do {
		if (e->what == MUTEX)
			return true;
		e = edge_of(g, e->owner);
	} while (e && e != first);
	return false;
}

/* The edges of a circle, each of which must be what it seems. That of evaluations alone is told by deadlock.c. */
static bool tell_circle(struct graph *g, const struct edge *first)
{
	struct lbx_diagnosed said = { .n_tensors = 0 };
	const struct edge *e = first;
	struct lbx_frame_view frame;
	int n = 0;

	if (!has_mutex(g, first))
		return lb_ok();
	do {
		if (!waits_so(g, e, &frame))
			return lb_ok();
		say_edge(&said, e, &frame);
		if (n++ == 0)
			lbx_diagnosed_frame(&said, &frame);
		e = edge_of(g, e->owner);
	} while (e && e != first);
	struct lbx_diagnosed *f = lbx_case_found(g->c, LBX_HIGH, 0.95);
	if (!f)
		return lb_ok();
	said.rule = f->rule;
	said.severity = f->severity;
	said.confidence = f->confidence;
	*f = said;
	if (n == 1)
		LBX_SAY(f->title, "thread %" PRIu64 " waits for a mutex that it holds itself", first->tid);
	else
		LBX_SAY(f->title, "deadlock: %d threads wait for each other", n);
	LBX_SAY(f->cost, "%s will ever go on", n == 1 ? "it never" : "none of them");
	LBX_SAY(
	    f->advice, "%s",
	    n == 1
		? "Lock it once on the way, or make it recursive (PTHREAD_MUTEX_RECURSIVE)."
		: "Take several mutexes in the same order everywhere, and wait for no thread, and for nothing that it evaluates, while holding one that it needs.");
	return true;
}

/* As it stands still. */
static bool has_ended(struct graph *g, uint64_t tid)
{
	struct lbx_stacks *stacks = g->c->context->stacks;
	int n = stacks->ops->threads(stacks, g->tids, THREADS_MOST);

	for (int i = 0; i < n && i < THREADS_MOST; i++)
		if (g->tids[i] == tid)
			return false;
	return n > 0 && n <= THREADS_MOST;
}

static bool tell_ended(struct graph *g, const struct edge *e)
{
	struct lbx_frame_view frame;

	if (e->what != MUTEX || !waits_so(g, e, &frame) || !has_ended(g, e->owner))
		return lb_ok();
	struct lbx_diagnosed *f = lbx_case_found(g->c, LBX_HIGH, 0.9);
	if (!f)
		return lb_ok();
	LBX_SAY(f->title, "a mutex is held by thread %" PRIu64 ", which has ended", e->owner);
	say_edge(f, e, &frame);
	lbx_diagnosed_frame(f, &frame);
	LBX_SAY(f->cost, "who waits for it never goes on");
	LBX_SAY(
	    f->advice,
	    "Unlock it on every way out of what it guards; a robust mutex (PTHREAD_MUTEX_ROBUST) tells of such an end.");
	return true;
}

static bool look_at(struct graph *g, const struct edge *e)
{
	const struct edge *at = e, *least = e;

	if (!is_thread(g, e->owner))
		return tell_ended(g, e);
	for (int steps = 0; steps <= g->n; steps++) {
		at = edge_of(g, at->owner);
		if (!at || at == e)
			break;
		least = at < least ? at : least;
	}
	return at != e || least != e || tell_circle(g, e); /* each circle once, by the first of it */
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct lbx_stacks *stacks = c->context->stacks;
	struct lbx_eval_waits waits = { .n = 0 };
	struct graph *g = state;

	g->c = c;
	if (c->table && !lbx_eval_waits_read(c->table, &waits)) {
		lbx_eval_waits_deinit(&waits);
		return false;
	}
	g->n_threads = stacks->ops->waits ? stacks->ops->waits(stacks, g->threads, THREADS_MOST) : 0;
	for (int i = 0; i < g->n_threads; i++)
		g->n += find_evaluation(&waits, g->threads[i].tid, &g->edges[g->n]) ||
			(g->threads[i].address && read_edge(g, &g->threads[i], &g->edges[g->n]));
	lbx_eval_waits_deinit(&waits);
	for (int i = 0; i < g->n; i++)
		if (!look_at(g, &g->edges[i]))
			return false;
	return lb_ok();
}

const struct lbx_rule lbx_rule_locked_mutexes = {
	.id = "F10",
	.name = "locked-mutexes",
	.title = "threads that wait for each other's mutexes, or for one whose owner has ended",
	.sees = LBX_SEES_STACKS,
	.meaning =
	    "Each of them waits for a mutex that another one holds, for its end, or for what it evaluates, in a circle: none\n"
	    "will go on. What a thread holds when it ends stays locked.",
	.example = "lock(&cache); lock(&graph);     /* one thread */\n"
		   "lock(&graph); lock(&cache);     /* another */",
	.demands =
	    "Threads wait in pthread_mutex_lock() for glibc mutexes whose owners (__owner) wait likewise, or in\n"
	    "pthread_join(), or for an evaluation by the runtime's records, in a circle; or whose owner is no thread of the\n"
	    "process.",
	.cure = "One order for all mutexes; no waiting for a thread while holding what it needs.",
	.state = sizeof(struct graph),
	.conclude = conclude,
};
