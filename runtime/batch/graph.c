#include "batch/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "batch/rule.h"
#include "grad/reverse.h"
#include "graph/shape.h"

struct lb_tensor *lb_batch_of(const struct lb_batch_graph *g, struct lb_tensor *t, bool *ret_batched)
{
	const struct lb_met *met = lb_order_find(&g->order, t);
	*ret_batched = met->depends;
	if (!met->depends)
		return t;
	if (t->op == LB_OP_TRACER)
		return g->moved[t->params[0]];
	return g->made[met->value];
}

/* As the rules want it: the shape, and how the elements of the batch lie. */
static struct lb_tensor *checked(const struct lb_batch_graph *g, const struct lb_tensor *t, struct lb_tensor *y)
{
	char got[LB_SHAPE_TEXT], of[LB_SHAPE_TEXT];
	if (!y)
		return NULL;
	if (y->dtype != t->dtype || y->rank != t->rank + 1 || y->shape[0] != g->n ||
	    !lb_same_shape(y->rank - 1, y->shape + 1, t->rank, t->shape)) {
		lb_fail("vmap: %s %s became %s %s over %lld: that is a mistake of its rule", lb_ops[t->op].name,
			lb_shape_text(t->rank, t->shape, of), lb_dtypes[y->dtype].name,
			lb_shape_text(y->rank, y->shape, got), (long long)g->n);
		return NULL;
	}
	return lb_batch_lies_alike(y, t) ? y : lb_contiguous(y);
}

static struct lb_tensor *apply_rule(const struct lb_batch_graph *g, struct lb_batching *b)
{
	const struct lb_tensor *t = b->t;
	char text[LB_SHAPE_TEXT];
	if (t->rank == LB_MAX_RANK) {
		lb_fail("vmap: %s gives %s, which has no room for the axis of the batch: a tensor has at most %d axes",
			lb_ops[t->op].name, lb_shape_text(t->rank, t->shape, text), LB_MAX_RANK);
		return NULL;
	}
	lb_batch_rule *rule = lb_batch_rules[t->op];
	if (!rule) {
		lb_fail("vmap: %s is no operation of a function", lb_ops[t->op].name);
		return NULL;
	}
	return checked(g, t, rule(b));
}

static bool make(struct lb_batch_graph *g, struct lb_tensor *t, struct lb_tensor **x, bool *batched)
{
	struct lb_self *self = lb_self();
	size_t mark = self->n_items;
	uint64_t since = self->next_id;
	uint32_t stream = self->stream;
	for (uint32_t i = 0; i < t->n_inputs; i++)
		x[i] = lb_batch_of(g, lb_tensor_input(t, i), &batched[i]);
	struct lb_batching b = { t, g->n, x, batched };
	self->stream = t->stream;
	struct lb_tensor *y = apply_rule(g, &b);
	self->stream = stream;
	if (!y)
		return false;
	lb_made_for(mark, (const void *)(uintptr_t)t->site, t->stack);
	if (lb_name(t) && y->id >= since)
		lb_named(lb_name(t), y);
	lb_order_find(&g->order, t)->value = g->n_made;
	g->made[g->n_made++] = y;
	return true;
}

bool lb_batch_make(struct lb_batch_graph *g)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < g->order.n; i++)
		most = g->order.list[i]->n_inputs > most ? g->order.list[i]->n_inputs : most;
	g->made = calloc((size_t)g->order.n + 1, sizeof *g->made);
	lb_auto_free struct lb_tensor **x = calloc((size_t)most + 1, sizeof *x);
	lb_auto_free bool *batched = calloc((size_t)most + 1, sizeof *batched);
	if (!g->made || !x || !batched)
		return lb_fail("vmap: out of memory for a graph of %u tensors", g->order.n);
	for (uint32_t i = 0; i < g->order.n; i++) {
		struct lb_tensor *t = g->order.list[i];
		if (lb_order_find(&g->order, t)->depends && !make(g, t, x, batched))
			return false;
	}
	return true;
}

void lb_batch_graph_deinit(struct lb_batch_graph *g)
{
	lb_order_deinit(&g->order);
	free(g->made);
}
