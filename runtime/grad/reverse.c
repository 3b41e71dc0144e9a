/* The walk goes down from the results once, depth first, and lists what it meets in post-order:
 * inputs before what they make. A tensor is on a path if it is asked for or one of its inputs is
 * on a path. Then the list is gone through backwards: a tensor's cotangent is complete when its
 * turn comes, since all its consumers have had theirs, and its rule hands it on to those inputs
 * that are on a path. Everything is a list; a chain of a million operations needs no recursion. */
#include "grad/reverse.h"

#include <stdlib.h>
#include <string.h>

#include "grad/custom.h"
#include "grad/rule.h"
#include "graph/shape.h"

enum { NONE = UINT32_MAX };

struct node {
	struct lb_tensor *tensor, *cotangent;
	bool on_path;
};

struct frame {
	uint32_t node, input;
};

struct lb_reverse {
	const struct lb_goal *goal;
	struct node *nodes;
	uint32_t *order; /* post-order */
	struct frame *stack;
	uint32_t n, capacity, n_ordered, depth;
	uint32_t *table; /* nodes by address: open addressing, at most half full */
	uint32_t table_size;
};

/* ---- the set of nodes ---- */

static uint32_t *place_of(const struct lb_reverse *w, const struct lb_tensor *t)
{
	uint32_t i = (uint32_t)(((uintptr_t)t * 0x9e3779b97f4a7c15ULL) >> 32);
	for (;; i++) {
		uint32_t *place = &w->table[i & (w->table_size - 1)];
		if (*place == NONE || w->nodes[*place].tensor == t)
			return place;
	}
}

static struct node *node_of(const struct lb_reverse *w, const struct lb_tensor *t)
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

static bool grow(struct lb_reverse *w)
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

static bool add(struct lb_reverse *w, struct lb_tensor *t, bool on_path, uint32_t *ret)
{
	if (w->n == w->capacity && !grow(w))
		return false;
	*ret = w->n;
	*place_of(w, t) = w->n;
	w->nodes[w->n++] = (struct node){ .tensor = t, .on_path = on_path };
	return true;
}

/* ---- down ---- */

/* Integers have no gradient to pass on, except that quantize() is asked about both its parts. */
static bool passes(const struct lb_tensor *t)
{
	return t->op != LB_OP_STOP_GRADIENT && (lb_dtype_is_inexact(t->dtype) || t->op == LB_OP_QUANTIZE);
}

static bool meet(struct lb_reverse *w, struct lb_tensor *t)
{
	const struct lb_goal *goal = w->goal;
	uint32_t index;
	/* what is older than the call is a constant of it */
	if (!passes(t) || t->id < goal->since || !lb_trace_has(goal->trace, t->id) || node_of(w, t))
		return true;
	if (t->n_inputs && lb_tensor_flags(t) & LB_FLAG_DETACHED) {
		lb_fail_site(goal->site);
		return lb_fail("%s: tensor #%llu (%s) was evaluated by another thread before its gradient was "
			       "taken, which detached it from its inputs", goal->name, (unsigned long long)t->id,
			       lb_ops[t->op].name);
	}
	if (!add(w, t, false, &index))
		return false;
	w->stack[w->depth++] = (struct frame){ index, 0 };
	return true;
}

static bool walk_down(struct lb_reverse *w, struct lb_tensor *root)
{
	if (!meet(w, root))
		return false;
	while (w->depth) {
		struct frame *top = &w->stack[w->depth - 1];
		struct lb_tensor *t = w->nodes[top->node].tensor;
		if (top->input < t->n_inputs) {
			if (!meet(w, lb_tensor_input(t, top->input++)))
				return false;
			continue;
		}
		struct node *node = &w->nodes[top->node];
		for (uint32_t i = 0; i < t->n_inputs && !node->on_path; i++) {
			const struct node *input = node_of(w, lb_tensor_input(t, i));
			node->on_path = input && input->on_path;
		}
		w->order[w->n_ordered++] = top->node;
		w->depth--;
	}
	return true;
}

/* ---- up: what rules use ---- */

bool lb_vjp_wants(const struct lb_vjp *v, int i)
{
	const struct node *node = node_of(v->walk, lb_vjp_input(v, i));
	return node && node->on_path;
}

struct lb_tensor *lb_vjp_so_far(const struct lb_vjp *v, struct lb_tensor *x)
{
	const struct node *node = node_of(v->walk, x);
	return node && node->cotangent ? node->cotangent : lb_zeros_of(x);
}

bool lb_vjp_put(const struct lb_vjp *v, struct lb_tensor *x, struct lb_tensor *d)
{
	if (!d)
		return false;
	struct node *node = node_of(v->walk, x);
	if (node && node->on_path)
		node->cotangent = d;
	return true;
}

/* d summed over the axes along which x was broadcast, in x's shape and dtype. */
static struct lb_tensor *fitted(struct lb_tensor *d, struct lb_tensor *x)
{
	int64_t axes[LB_MAX_RANK];
	int n = 0, more = d->rank > x->rank ? d->rank - x->rank : 0;
	for (int i = 0; i < d->rank; i++) {
		int own = i - d->rank + x->rank;
		if (own < 0 || (x->shape[own] == 1 && d->shape[i] != 1))
			axes[n++] = i;
	}
	if (n && lb_dtypes[x->dtype].bytes > lb_dtypes[d->dtype].bytes)
		d = lb_astype(d, (lb_dtype)x->dtype);
	if (n)
		d = lb_sum(d, (lb_list){ n, axes }, true);
	if (d && more)
		d = lb_reshape(d, (lb_list){ x->rank, d->shape + more });
	if (d && !lb_same_shape(d->rank, d->shape, x->rank, x->shape))
		d = lb_broadcast_to(d, lb_shape_of(x));
	return d ? lb_astype(d, (lb_dtype)x->dtype) : NULL;
}

bool lb_vjp_fail(const struct lb_vjp *v, const char *why)
{
	lb_fail_site((const void *)(uintptr_t)v->t->site);
	return lb_fail("%s: %s", lb_ops[v->t->op].name, why);
}

bool lb_vjp_give(const struct lb_vjp *v, int i, struct lb_tensor *d)
{
	return lb_vjp_give_to(v, lb_vjp_input(v, i), d);
}

bool lb_vjp_give_to(const struct lb_vjp *v, struct lb_tensor *x, struct lb_tensor *d)
{
	if (!d)
		return false;
	struct node *node = node_of(v->walk, x);
	if (!node || !node->on_path)
		return true;
	if (x->dtype == LB_C64)
		return lb_vjp_fail(v, "complex64 has no gradient; differentiate a function of real tensors");
	d = fitted(d, x);
	if (d && node->cotangent)
		d = lb_add(node->cotangent, d);
	return lb_vjp_put(v, x, d);
}

/* ---- up ---- */

void lb_made_for(size_t mark, const void *site, uint32_t stack)
{
	struct lb_self *self = lb_self();
	for (size_t i = mark; i < self->n_items; i++) {
		self->items[i]->site = (uint64_t)(uintptr_t)site;
		self->items[i]->stack = stack;
	}
}

/* The results of a call that a rule of its own waits for. */
static void count_pending(struct lb_reverse *w)
{
	for (int counts = 0; counts < 2; counts++) {
		for (uint32_t i = 0; i < w->n; i++) {
			struct node *node = &w->nodes[i];
			struct lb_custom *call = node->on_path ? lb_custom_of(node->tensor) : NULL;
			if (!call)
				continue;
			call->pending = counts ? call->pending + 1 : 0;
			memset(call->cotangents, 0, (size_t)call->n_out * sizeof *call->cotangents);
		}
	}
}

static bool to_custom(const struct lb_vjp *v, struct lb_custom *call)
{
	bool any = false;
	call->cotangents[v->t->params[1]] = v->g;
	if (--call->pending)
		return true;
	for (int i = 0; i < call->n_out; i++)
		any = any || call->cotangents[i];
	if (!any)
		return true;
	for (int i = 0; i < call->n_in; i++)
		call->wants[i] = lb_vjp_wants(v, i + 1);
	if (!lb_custom_run(call))
		return false;
	size_t mark = lb_self()->n_items;
	for (int i = 0; i < call->n_in; i++) {
		if (call->wants[i] && call->grads[i] && !lb_vjp_give(v, i + 1, call->grads[i]))
			return false;
	}
	lb_made_for(mark, call->site, v->t->stack);
	return true;
}

static bool hand_on(struct lb_reverse *w, struct node *node)
{
	struct lb_tensor *t = node->tensor;
	struct lb_vjp v = { w, t, node->cotangent };
	struct lb_custom *call = node->on_path ? lb_custom_of(t) : NULL;
	if (call)
		return to_custom(&v, call);
	lb_rule *rule = lb_rules[t->op];
	if (!node->on_path || !node->cotangent || !rule)
		return true;
	size_t mark = lb_self()->n_items;
	bool ok = rule(&v);
	lb_made_for(mark, (const void *)(uintptr_t)t->site, t->stack);
	return ok;
}

static bool seed(struct lb_reverse *w, struct lb_tensor *root, struct lb_tensor *cotangent)
{
	struct node *node = node_of(w, root);
	if (!node || !node->on_path || !cotangent)
		return true;
	size_t mark = lb_self()->n_items;
	node->cotangent = node->cotangent ? lb_add(node->cotangent, cotangent) : cotangent;
	lb_made_for(mark, w->goal->site, 0);
	return node->cotangent != NULL;
}

static bool walk(struct lb_reverse *w, struct lb_tensor **grads)
{
	const struct lb_goal *goal = w->goal;
	uint32_t index;
	if (!grow(w))
		return false;
	for (int i = 0; i < goal->n_wrt; i++) {
		if (!add(w, goal->wrt[i], true, &index))
			return false;
		w->order[w->n_ordered++] = index;
	}
	uint32_t n_wrt = w->n;
	for (int i = 0; i < goal->n_roots; i++) {
		if (goal->cotangents[i] && !walk_down(w, goal->roots[i]))
			return false;
	}
	if (goal->trace->incomplete)
		return lb_fail("%s: out of memory for the trace of a function", goal->name);
	count_pending(w);
	for (int i = 0; i < goal->n_roots; i++) {
		if (!seed(w, goal->roots[i], goal->cotangents[i]))
			return false;
	}
	for (uint32_t i = w->n_ordered; i-- > n_wrt;) {
		if (!hand_on(w, &w->nodes[w->order[i]]))
			return false;
	}
	for (int i = 0; i < goal->n_wrt; i++)
		grads[i] = node_of(w, goal->wrt[i])->cotangent;
	return true;
}

bool lb_reverse(const struct lb_goal *goal, struct lb_tensor **grads)
{
	struct lb_reverse w = { .goal = goal };
	bool ok = walk(&w, grads);
	free(w.nodes);
	free(w.order);
	free(w.stack);
	free(w.table);
	return ok;
}
