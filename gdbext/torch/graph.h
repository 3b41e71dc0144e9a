/* Autograd's graph: the nodes that living tensors were computed by, and all that these lead to. */
#ifndef LBX_TORCH_GRAPH_H
#define LBX_TORCH_GRAPH_H

#include "torch/node.h"

struct lbx_torch_node {
	uint64_t address;
	const char *op; /* "AddmmBackward0" */
	uint64_t tensor; /* the living one that it computed; LBX_TORCH_SEVERAL; 0: none */
	uint64_t leaf;   /* to whose gradient it adds; 0: it does something else, or that is not known */
	uint64_t first_edge;
	uint32_t n_edges; /* to nodes: those that lead nowhere are left out */
	uint32_t n_kept;
	uint64_t first_kept; /* tensors that it keeps, see reach.h */
};
#define LBX_TORCH_SEVERAL UINT64_MAX

struct lbx_torch_graph {
	struct lbx_torch_nodes kinds;
	struct lbx_torch_node *nodes; /* by address, once all are there */
	uint64_t n, room;
	struct lbx_torch_edge *edges;
	uint64_t n_edges, edges_room;
	bool is_cut; /* there are more */
	uint32_t *kept; /* by nodes: the tensors' numbers, from 0 on; NULL: they have not been looked for */
	uint64_t n_kept, kept_room;
	bool *is_kept; /* by tensors: whether a node keeps it */
};

/* Finds all that n tensors lead to; changes their order. False, with an error, without memory. */
bool lbx_torch_graph_find(struct lbx_torch_graph *graph, struct lbx_target *target, struct lbx_torch_computed *computed,
			  size_t n);
/* NULL: it is none of them. */
struct lbx_torch_node *lbx_torch_node_at(const struct lbx_torch_graph *graph, uint64_t address);
void lbx_torch_graph_free(struct lbx_torch_graph *graph);

#endif
