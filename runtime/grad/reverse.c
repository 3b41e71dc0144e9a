/* The walk goes down from the results once, depth first, and lists what it meets in post-order:
 * inputs before what they make. A tensor is on a path if it is asked for or one of its inputs is
 * on a path. Then the list is gone through backwards: a tensor's cotangent is complete when its
 * turn comes, since all its consumers have had theirs, and its rule hands it on to those inputs
 * that are on a path. Everything is a list; a chain of a million operations needs no recursion. */
#include "grad/reverse.h"

#include <string.h>

#include "grad/custom.h"
#include "grad/rule.h"
#include "grad/walk.h"

void lb_made_for(size_t mark, const void *site, uint32_t stack)
{
	struct lb_self *self = lb_self();
	for (size_t i = mark; i < self->n_items; i++) {
		self->items[i]->site = (uint64_t)(uintptr_t)site;
		self->items[i]->stack = stack;
	}
}

/* The results of a call that a rule of its own waits for. */
static void count_pending(struct lb_walk *w)
{
	for (int counts = 0; counts < 2; counts++) {
		for (uint32_t i = 0; i < w->n; i++) {
			struct lb_walk_node *node = &w->nodes[i];
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
	if (!call->run(call))
		return false;
	size_t mark = lb_self()->n_items;
	for (int i = 0; i < call->n_in; i++) {
		if (call->wants[i] && call->grads[i] && !lb_vjp_give(v, i + 1, call->grads[i]))
			return false;
	}
	lb_made_for(mark, (const void *)(uintptr_t)v->t->site, v->t->stack);
	return true;
}

static bool hand_on(struct lb_walk *w, struct lb_walk_node *node)
{
	struct lb_tensor *t = node->tensor;
	struct lb_vjp v = { .walk = w, .t = t, .g = node->cotangent, .pull_back = w->goal->pull_back };
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

static bool seed(struct lb_walk *w, struct lb_tensor *root, struct lb_tensor *cotangent)
{
	struct lb_walk_node *node = lb_walk_find(w, root);
	if (!node || !node->on_path || !cotangent)
		return true;
	size_t mark = lb_self()->n_items;
	node->cotangent = node->cotangent ? lb_add(node->cotangent, cotangent) : cotangent;
	lb_made_for(mark, w->goal->site, 0);
	return node->cotangent != NULL;
}

static bool walk_back(struct lb_walk *w, struct lb_tensor **grads)
{
	const struct lb_goal *goal = w->goal;
	uint32_t index;
	for (int i = 0; i < goal->n_wrt; i++) {
		if (!lb_walk_add(w, goal->wrt[i], true, &index))
			return false;
		w->order[w->n_ordered++] = index;
	}
	uint32_t n_wrt = w->n;
	for (int i = 0; i < goal->n_roots; i++) {
		if (goal->cotangents[i] && !lb_walk_down(w, goal->roots[i]))
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
		grads[i] = lb_walk_find(w, goal->wrt[i])->cotangent;
	return true;
}

bool lb_reverse(const struct lb_goal *goal, struct lb_tensor **grads)
{
	struct lb_walk w;
	bool ok = lb_walk_init(&w, goal) && walk_back(&w, grads);
	lb_walk_free(&w);
	return ok;
}
