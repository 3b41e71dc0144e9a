/* The graph behind a tensor, down to the ready ones. */
#ifndef LBX_GRAPH_H
#define LBX_GRAPH_H

#include "inspect/command.h"

struct lbx_graph_node {
	struct lbx_tensor tensor;
	uint64_t first_input; /* into `inputs`: as many as the tensor has, none for a leaf */
	bool is_leaf;         /* ready, or gone for good: its inputs are not part of the graph */
	uint8_t doubt;        /* enum lbx_doubt (tensors/doubt.h) */
	const void *constant; /* of a leaf that is in no program's memory: its elements, row-major; or NULL */
};

struct lbx_graph {
	uint32_t n, nodes_room;
	struct lbx_graph_node *nodes; /* the first is the tensor that was asked for */
	uint32_t n_ordered, order_room;
	uint32_t *order;              /* indices of nodes, inputs first */
	uint64_t n_inputs, inputs_room;
	uint32_t *inputs;             /* indices of nodes */
};

/* Walks at most max_nodes; cycles and inputs that are gone are errors, but for those of providers with recipes,
 * where they may not matter. A t that says it is freed has
 * inputs all the same: who wants a ready tensor computed again says so. */
bool lbx_graph_collect(struct lbx_context *context, const struct lbx_tensor *t, uint32_t max_nodes,
		       struct lbx_graph *ret);
void lbx_graph_deinit(struct lbx_graph *graph);

#endif
