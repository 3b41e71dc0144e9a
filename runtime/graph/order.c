#include "graph/order.h"

#include <stdlib.h>

#include "base/vector.h"

struct lb_order_frame {
	struct lb_tensor *tensor;
	uint32_t next; /* input to visit */
};

static bool no_memory(const struct lb_order *o)
{
	return lb_fail("%s: out of memory for a graph of %u tensors", o->tracing->call, o->n_met);
}

struct lb_met *lb_order_find(const struct lb_order *o, const struct lb_tensor *t)
{
	uint64_t i = ((uint64_t)(uintptr_t)t >> 4) * 0x9e3779b97f4a7c15ULL >> 32;
	while (o->met[i & (o->n_places - 1)].tensor && o->met[i & (o->n_places - 1)].tensor != t)
		i++;
	return &o->met[i & (o->n_places - 1)];
}

static bool grow(struct lb_order *o)
{
	struct lb_order bigger = *o;
	bigger.n_places = o->n_places ? o->n_places * 2 : 256;
	bigger.met = calloc(bigger.n_places, sizeof *bigger.met);
	if (!bigger.met)
		return no_memory(o);
	for (uint32_t i = 0; i < o->n_places; i++) {
		if (o->met[i].tensor)
			*lb_order_find(&bigger, o->met[i].tensor) = o->met[i];
	}
	free(o->met);
	*o = bigger;
	return true;
}

/* Notes t; what belongs to the trace is to be walked. */
static bool visit_one(struct lb_order *o, struct lb_tensor *t)
{
	if (o->n_met * 2 >= o->n_places && !grow(o))
		return false;
	struct lb_met *met = lb_order_find(o, t);
	if (met->tensor)
		return true;
	*met = (struct lb_met){ .tensor = t, .depends = lb_is_tracer_of(o->tracing, t) };
	o->n_met++;
	if (met->depends || !lb_is_traced(o->tracing, t))
		return true;
	if (!lb_reserve(o->stack, o->stack_room, o->depth + 1))
		return no_memory(o);
	o->stack[o->depth++] = (struct lb_order_frame){ t, 0 };
	return true;
}

static bool leave(struct lb_order *o, struct lb_tensor *t)
{
	bool depends = false;
	for (uint32_t i = 0; i < t->n_inputs; i++)
		depends |= lb_order_find(o, lb_tensor_input(t, i))->depends;
	lb_order_find(o, t)->depends = depends;
	if (!lb_reserve(o->list, o->room, o->n + 1))
		return no_memory(o);
	o->list[o->n++] = t;
	return true;
}

bool lb_order_add(struct lb_order *o, struct lb_tensor *root)
{
	if (!visit_one(o, root))
		return false;
	while (o->depth) {
		struct lb_order_frame *top = &o->stack[o->depth - 1];
		struct lb_tensor *t = top->tensor;
		bool ok =
		    top->next < t->n_inputs ? visit_one(o, lb_tensor_input(t, top->next++)) : (o->depth--, leave(o, t));
		if (!ok)
			return false;
	}
	return true;
}

void lb_order_deinit(struct lb_order *o)
{
	free(o->list);
	free(o->met);
	free(o->stack);
}
