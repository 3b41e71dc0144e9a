#include "grad/walk.h"

#include <stdlib.h>
#include <string.h>

#include "grad/custom.h"

enum { NONE = UINT32_MAX };

/* ---- the set of nodes ---- */

static uint32_t *place_of(const struct lb_walk *w, const struct lb_tensor *t)
{
	uint32_t i = (uint32_t)(((uintptr_t)t * 0x9e3779b97f4a7c15ULL) >> 32);
	for (;; i++) {
		uint32_t *place = &w->table[i & (w->table_size - 1)];
		if (*place == NONE || w->nodes[*place].tensor == t)
			return place;
	}
}

struct lb_walk_node *lb_walk_find(const struct lb_walk *w, const struct lb_tensor *t)
{
	uint32_t i = *place_of(w, t);
	return i == NONE ? NULL : &w->nodes[i];
}

static bool resized(void *list, size_t n, size_t size)
{
	void *bigger = realloc(*(void **)list, n * size);
	if (!bigger)
		return lb_fail("out of memory for the gradients of %zu tensors", n);
	*(void **)list = bigger;
	return true;
}

static bool grow(struct lb_walk *w)
{
	if (w->capacity > UINT32_MAX / 8)
		return lb_fail("%s: more than %u tensors in one function", w->goal->name, UINT32_MAX / 8);
	uint32_t capacity = w->capacity ? w->capacity * 2 : 256;
	if (!resized(&w->nodes, capacity, sizeof *w->nodes) || !resized(&w->order, capacity, sizeof *w->order) ||
	    !resized(&w->stack, capacity, sizeof *w->stack) ||
	    !resized(&w->table, (size_t)capacity * 2, sizeof *w->table))
		return false;
	w->capacity = capacity;
	w->table_size = capacity * 2;
	memset(w->table, 0xff, w->table_size * sizeof *w->table);
	for (uint32_t i = 0; i < w->n; i++)
		*place_of(w, w->nodes[i].tensor) = i;
	return true;
}

bool lb_walk_add(struct lb_walk *w, struct lb_tensor *t, bool on_path, uint32_t *ret)
{
	if (w->n == w->capacity && !grow(w))
		return false;
	*ret = w->n;
	*place_of(w, t) = w->n;
	w->nodes[w->n++] = (struct lb_walk_node){ .tensor = t, .on_path = on_path };
	return true;
}

/* ---- down ---- */

/* Integers have no gradient to pass on, except that quantize() is asked about both its parts, and to_fp8(). */
static bool passes(const struct lb_tensor *t)
{
	bool is_rounded = t->op == LB_OP_QUANTIZE || t->op == LB_OP_TO_FP8;
	return t->op != LB_OP_STOP_GRADIENT && (lb_dtype_is_inexact(t->dtype) || is_rounded);
}

static bool meet(struct lb_walk *w, struct lb_tensor *t)
{
	const struct lb_goal *goal = w->goal;
	uint32_t index;
	/* what is older than the call is a constant of it */
	if (!passes(t) || t->id < goal->since || !lb_trace_has(goal->trace, t->id) || lb_walk_find(w, t))
		return true;
	if (t->n_inputs && lb_tensor_flags(t) & LB_FLAG_DETACHED) {
		lb_fail_site(goal->site);
		return lb_fail("%s: tensor #%llu (%s) was evaluated by another thread before its gradient was "
			       "taken, which detached it from its inputs",
			       goal->name, (unsigned long long)t->id, lb_ops[t->op].name);
	}
	if (!lb_walk_add(w, t, false, &index))
		return false;
	w->stack[w->depth++] = (struct lb_walk_frame){ index, 0 };
	return true;
}

/* Of an lb_depends() only the first: the others are computed before it, no more. */
static uint32_t n_passed(const struct lb_tensor *t)
{
	return t->op == LB_OP_DEPENDS && !lb_custom_of(t) ? 1 : t->n_inputs;
}

bool lb_walk_down(struct lb_walk *w, struct lb_tensor *root)
{
	if (!meet(w, root))
		return false;
	while (w->depth) {
		struct lb_walk_frame *top = &w->stack[w->depth - 1];
		struct lb_tensor *t = w->nodes[top->node].tensor;
		if (top->input < n_passed(t)) {
			if (!meet(w, lb_tensor_input(t, top->input++)))
				return false;
			continue;
		}
		struct lb_walk_node *node = &w->nodes[top->node];
		for (uint32_t i = 0; i < n_passed(t) && !node->on_path; i++) {
			const struct lb_walk_node *input = lb_walk_find(w, lb_tensor_input(t, i));
			node->on_path = input && input->on_path;
		}
		w->order[w->n_ordered++] = top->node;
		w->depth--;
	}
	return true;
}

bool lb_walk_init(struct lb_walk *w, const struct lb_goal *goal)
{
	*w = (struct lb_walk){ .goal = goal };
	return grow(w);
}

void lb_walk_free(struct lb_walk *w)
{
	free(w->nodes);
	free(w->order);
	free(w->stack);
	free(w->table);
}
