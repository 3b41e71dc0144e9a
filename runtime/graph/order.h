/* What some results of a trace (graph/tracer.h) are computed from, inputs before what they make.
 *
 * Only tensors of the trace are walked into: they alone can depend on its tracers, and nobody else
 * changes them. */
#ifndef LB_GRAPH_ORDER_H
#define LB_GRAPH_ORDER_H

#include "graph/tracer.h"

struct lb_met {
	struct lb_tensor *tensor; /* NULL: an empty place */
	bool depends;             /* on a tracer of the trace */
	bool has_value;
	uint32_t value;           /* for who walks to note what becomes of it */
};

struct lb_order {
	const struct lb_tracing *tracing;
	struct lb_tensor **list; /* of the trace, but for its tracers */
	uint32_t n;
	/* its own */
	uint32_t room, depth, stack_room, n_met, n_places;
	struct lb_met *met; /* open addressing, at most half full */
	struct lb_order_frame *stack;
};

/* Adds the tensor, and what it is computed from, where they are not there yet. */
bool lb_order_add(struct lb_order *o, struct lb_tensor *root);
/* What is noted of a tensor that was added or is an input of one; valid until the next lb_order_add(). */
struct lb_met *lb_order_find(const struct lb_order *o, const struct lb_tensor *t);
void lb_order_deinit(struct lb_order *o);

#endif
