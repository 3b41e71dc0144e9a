/* A traced function over a batch: each operation of the trace that depends on the batch is made over all of it. */
#ifndef LB_BATCH_GRAPH_H
#define LB_BATCH_GRAPH_H

#include "graph/order.h"

struct lb_batch_graph {
	struct lb_order order;
	int64_t n;                /* elements of the batch */
	struct lb_tensor **moved; /* the inputs that have tracers, with the batch as axis 0 */
	struct lb_tensor **made;  /* what the tensors have become that depend on it */
	uint32_t n_made;
};

/* Of what has been added to the order. */
bool lb_batch_make(struct lb_batch_graph *g);
/* What t has become, with the batch as axis 0; itself if it does not depend on the batch. */
struct lb_tensor *lb_batch_of(const struct lb_batch_graph *g, struct lb_tensor *t, bool *ret_batched);
void lb_batch_graph_deinit(struct lb_batch_graph *g);

/* Calls with a rule of their own (grad/custom.h): adds all results of those that the order has, and, when everything is
 * made, gives such a call, over the batch, to what their results have become. */
bool lb_batch_add_customs(struct lb_batch_graph *g);
bool lb_batch_make_customs(struct lb_batch_graph *g);

#endif
