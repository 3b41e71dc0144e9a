#include "eval/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "eval/journal.h"
#include "eval/look.h"
#include "graph/lazy.h"
#include "kernels/kernels.h"
#include "probes.h"
#include "publish/root.h"

struct frame {
	uint32_t step;
	uint32_t input; /* next one to visit */
};

struct walk {
	struct lb_schedule *s;
	struct frame *stack;
	uint32_t depth, capacity;
	uint32_t n_ordered;
};

static void *grown(struct lb_arena *arena, const void *old, uint32_t n, uint32_t capacity, size_t size)
{
	void *list = lb_arena_take(arena, (int64_t)capacity * (int64_t)size);
	if (list && n)
		memcpy(list, old, n * size);
	return list;
}

static bool reserve_step(struct lb_schedule *s)
{
	if (s->n < s->capacity)
		return true;
	if (s->capacity > UINT32_MAX / 4)
		return lb_fail("eval: more than %u tensors in one evaluation", UINT32_MAX / 4);
	uint32_t capacity = s->capacity ? s->capacity * 2 : 64;
	/* until both have grown the old ones stay: the claims in them must be given back */
	struct lb_step *steps = grown(s->arena, s->steps, s->n, capacity, sizeof *steps);
	uint32_t *order = steps ? grown(s->arena, s->order, s->n, capacity, sizeof *order) : NULL;
	if (!order)
		return false;
	s->steps = steps;
	s->order = order;
	s->capacity = capacity;
	return true;
}

static bool push_step(struct walk *w, uint32_t step)
{
	if (w->depth == w->capacity) {
		uint32_t capacity = w->capacity ? w->capacity * 2 : 64;
		struct frame *stack = grown(w->s->arena, w->stack, w->depth, capacity, sizeof *stack);
		if (!stack)
			return false;
		w->stack = stack;
		w->capacity = capacity;
	}
	w->stack[w->depth++] = (struct frame){ step, 0 };
	return true;
}

static bool list_blocker(struct lb_schedule *s, struct lb_tensor *t)
{
	if (s->n_blockers == s->blockers_capacity) {
		uint32_t capacity = s->blockers_capacity ? s->blockers_capacity * 2 : 16;
		struct lb_tensor **list = grown(s->arena, s->blockers, s->n_blockers, capacity, sizeof *list);
		if (!list)
			return false;
		s->blockers = list;
		s->blockers_capacity = capacity;
	}
	if (!s->plain)
		lb_tensor_retain(t, LB_ONE_REF);
	s->blockers[s->n_blockers++] = t;
	return true;
}

static bool is_of_streams(const struct lb_schedule *s, const struct lb_tensor *t)
{
	return (t->stream == s->streams[0]) | (t->stream == s->streams[1]);
}

/* False for almost every tensor: only then `consider` has to look closer. */
static inline bool is_special(const struct lb_schedule *s, const struct lb_tensor *t)
{
	return (lb_tensor_flags(t) & (LB_FLAG_QUEUED | LB_FLAG_FAILED)) | (s->bad != NULL) | !is_of_streams(s, t);
}

/* Whether t may be claimed; if not, *ret says how to go on. */
static bool consider(struct lb_schedule *s, struct lb_tensor *t, enum lb_built *ret)
{
	uint32_t flags = lb_tensor_flags(t);
	bool failed = (flags & LB_FLAG_FAILED) && !s->takes_all;
	for (const struct lb_bad *bad = s->bad; bad && !failed; bad = bad->next)
		failed = bad->tensor == t;
	if (failed) {
		lb_tensor_retain(t, LB_ONE_REF);
		s->failed = t;
		*ret = LB_MET_FAILURE;
		return false;
	}
	if (s->takes_all)
		return true;
	if ((flags & LB_FLAG_QUEUED) ? s->takes_queued && is_of_streams(s, t)
				     : is_of_streams(s, t) || lb_op_class(t->op) == LB_CLASS_VIEW)
		return true;
	*ret = list_blocker(s, t) ? LB_BUILT : LB_BUILD_FAILED;
	return false;
}

/* Counts an edge to t, and pushes t when it is new. */
static enum lb_built visit_tensor(struct walk *w, struct lb_tensor *t, bool is_edge)
{
	struct lb_schedule *s = w->s;
	uint8_t state = lb_tensor_state(t);
	enum lb_built built;
	if (state == LB_STATE_READY)
		return LB_BUILT;
	if (state == LB_STATE_LAZY && __builtin_expect(is_special(s, t), 0) && !consider(s, t, &built))
		return built;
	state = LB_STATE_LAZY;
	if (!reserve_step(s))
		return LB_BUILD_FAILED;
	enum lb_alone alone = lb_alone_begin();
	bool claimed = lb_swap(alone, &t->state, &state, LB_STATE_EVALUATING);
	lb_alone_end(alone);
	if (!claimed) {
		if (state == LB_STATE_READY)
			return LB_BUILT;
		if (state == LB_STATE_FREED) { /* waiting for it would never end */
			lb_fail_dead("eval", t);
			return LB_BUILD_FAILED;
		}
		if (__atomic_load_n(&t->eval, __ATOMIC_RELAXED) != s->eval)
			return list_blocker(s, t) ? LB_BUSY : LB_BUILD_FAILED;
		s->steps[t->order - 1].uses += is_edge;
		return LB_BUILT;
	}
	s->steps[s->n] = (struct lb_step){
		.tensor = t, .uses = is_edge, .group = s->n, .consumers = LB_NO_STEP, .next = LB_NO_STEP
	};
	lb_record_begin(&t->seq);
	__atomic_store_n(&t->eval, s->eval, __ATOMIC_RELAXED);
	t->order = s->n + 1;
	lb_record_end(&t->seq);
	return push_step(w, s->n++) ? LB_BUILT : LB_BUILD_FAILED;
}

static enum lb_built walk_down(struct walk *w)
{
	struct lb_schedule *s = w->s;
	while (w->depth) {
		struct frame *top = &w->stack[w->depth - 1];
		struct lb_tensor *t = s->steps[top->step].tensor;
		if (top->input == t->n_inputs) {
			s->order[w->n_ordered++] = top->step;
			w->depth--;
			continue;
		}
		struct lb_tensor *input = lb_tensor_input(t, top->input++);
		if (lb_is_constant(input) && lb_op_is_elementwise(t->op))
			continue;
		enum lb_built built = visit_tensor(w, input, true);
		if (built != LB_BUILT)
			return built;
	}
	return LB_BUILT;
}

/* Roots stay already. `swallowed`: it may join a chain. */
static void decide_stays(const struct lb_schedule *s, struct lb_step *step, bool swallowed)
{
	const struct lb_tensor *t = step->tensor;
	uint64_t refs = __atomic_load_n(&t->refs, __ATOMIC_RELAXED);
	uint64_t others = (uint32_t)refs - (refs >> 32) - step->uses;
	bool again = t->computed != 0 && step->asked;
	bool named = __atomic_load_n(&t->name, __ATOMIC_RELAXED) != 0; /* any thread may give one */
	step->stays |= others != 0;
	step->unasked = !step->stays && !s->plain && (step->shared || again || (named && !swallowed));
	step->stays |= step->unasked;
}

/* Whether t may join the group headed by `head`. */
static bool fits_group(const struct lb_schedule *s, uint32_t head, const struct lb_step *step)
{
	const struct lb_tensor *t = step->tensor, *h = s->steps[head].tensor;
	const struct lb_group *g = &s->groups[head];
	if (!lb_op_is_elementwise(h->op) || t->rank != h->rank ||
	    memcmp(t->shape, h->shape, (size_t)t->rank * sizeof *t->shape) != 0)
		return false;
	return g->insns + 1 <= LB_FUSE_INSNS && g->inputs + (int)t->n_inputs <= LB_FUSE_INPUTS &&
	       g->outputs + step->stored <= LB_FUSE_OUTPUTS;
}

static void assign_group(struct lb_schedule *s, uint32_t index)
{
	struct lb_step *step = &s->steps[index];
	struct lb_tensor *t = step->tensor;
	bool watched = s->apart || (lb_watched(t->watch) & LB_WATCH_VALUES) != 0 || lb_looks_for_nan() ||
		       (lb_journal_on() && lb_journal_wants(t));
	bool joins = lb_op_is_elementwise(t->op) && !step->mixed && step->consumers != LB_NO_STEP;
	decide_stays(s, step, joins);
	step->stored = step->stays || watched;
	step->remaining = step->uses;
	joins = joins && fits_group(s, step->consumers, step);
	if (joins && !watched) {
		uint32_t head = step->consumers;
		struct lb_group *g = &s->groups[head];
		step->group = head;
		step->next = s->steps[head].next;
		s->steps[head].next = index;
		g->insns++;
		g->inputs += (uint16_t)t->n_inputs;
		g->outputs += step->stored;
	} else {
		step->stored = lb_op_class(t->op) != LB_CLASS_VIEW;
		s->groups[index] = (struct lb_group){ 1, (uint16_t)t->n_inputs, 1 };
	}
	bool fuses = lb_op_is_elementwise(t->op), is_new = t->computed == 0;
	bool shares = step->stays && lb_op_class(t->op) == LB_CLASS_VIEW;
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		struct lb_step *input = lb_schedule_step(s, lb_tensor_input(t, i));
		if (!input)
			continue;
		if (!fuses || (input->consumers != LB_NO_STEP && input->consumers != step->group))
			input->mixed = true;
		input->consumers = step->group;
		input->asked |= is_new;
		input->shared |= shares && i == 0;
	}
}

static int by_age(const void *left, const void *right)
{
	const struct lb_tensor *a = *(struct lb_tensor *const *)left, *b = *(struct lb_tensor *const *)right;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The oldest first. Gradients are made from the last layer of a model back to the first; computed
 * in that order, the cotangents of each layer need not be kept until the gradients of all others
 * are done. */
static struct lb_tensor *const *ordered(struct lb_arena *arena, int n, struct lb_tensor *const *roots)
{
	if (n < 2)
		return roots;
	struct lb_tensor **list = lb_arena_take(arena, (int64_t)n * (int64_t)sizeof *list);
	if (list) {
		memcpy(list, roots, (size_t)n * sizeof *list);
		qsort(list, (size_t)n, sizeof *list, by_age);
	}
	return list;
}

enum lb_built lb_schedule_build(struct lb_schedule *s, int n, struct lb_tensor *const *roots)
{
	struct walk w = { .s = s };
	enum lb_built built = LB_BUILT;
	roots = ordered(s->arena, n, roots);
	if (n && !roots)
		return LB_BUILD_FAILED;
	for (int i = 0; i < n && built == LB_BUILT; i++) {
		built = visit_tensor(&w, roots[i], false);
		if (built == LB_BUILT)
			built = walk_down(&w);
		struct lb_step *step = lb_schedule_step(s, roots[i]);
		if (step && built == LB_BUILT)
			step->stays = true;
	}
	if (built == LB_BUILT && s->n_blockers)
		built = LB_BUSY;
	if (built == LB_BUILT) {
		s->groups = lb_arena_take(s->arena, (int64_t)s->n * (int64_t)sizeof *s->groups);
		if (!s->groups)
			built = LB_BUILD_FAILED;
	}
	if (built != LB_BUILT) {
		lb_schedule_abandon(s, lb_buffer_drop);
		return built;
	}
	for (uint32_t i = s->n; i-- > 0;)
		assign_group(s, s->order[i]);
	return LB_BUILT;
}

void lb_tensor_to_lazy(struct lb_tensor *t, void (*drop)(struct lb_buffer *))
{
	struct lb_buffer *buffer = lb_tensor_buffer(t);
	lb_record_begin(&t->seq);
	t->buffer = 0;
	__atomic_store_n(&t->eval, 0, __ATOMIC_RELAXED);
	t->order = 0;
	lb_record_end(&t->seq);
	if (buffer)
		drop(buffer);
	__atomic_store_n(&t->state, LB_STATE_LAZY, __ATOMIC_RELEASE);
	if (lb_lazy_limited())
		lb_lazy_again();
}

void lb_schedule_abandon(struct lb_schedule *s, void (*drop)(struct lb_buffer *))
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (!s->steps[i].finished)
			lb_tensor_to_lazy(s->steps[i].tensor, drop);
	}
}
