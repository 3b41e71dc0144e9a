/* A node of autograd's graph (torch/csrc/autograd/function.h): what a tensor was computed by. It has edges to those that
 * computed its inputs; where an input is a leaf that wants a gradient, the edge leads to a node of its own, which adds to that
 * gradient. */
#ifndef LBX_TORCH_NODE_H
#define LBX_TORCH_NODE_H

#include "target/cxx_types.h"

/* In bytes; `edges` 0: they have none that could be found. */
struct lbx_torch_node_layout {
	uint32_t edges; /* where they begin, where they end: addresses */
	uint32_t edge; /* bytes of one: a node, maybe what counts its references, and which of its outputs */
	uint32_t outputs; /* what is known of its results, as in a SmallVector; 0: that could not be found */
};

struct lbx_torch_edge {
	uint64_t node; /* its address; 0: nothing computed that input, or nobody wants its gradient */
	uint32_t output;
};

struct lbx_torch_node_class {
	uint64_t vtable;
	bool is_node;
	char name[LBX_CXX_NAME]; /* without its namespace: "AddmmBackward0" */
};

/* What is known of all nodes. */
struct lbx_torch_nodes {
	struct lbx_torch_node_layout layout;
	struct lbx_torch_node_class **classes; /* each stays where it is */
	size_t n_classes, classes_room;
};

/* A tensor that lives, and the node that computed it. */
enum { LBX_TORCH_FEW_AXES = 5 };
struct lbx_torch_computed {
	uint64_t tensor, node; /* tensor 0: whether it did is not certain */
	int rank; /* -1: it has more axes */
	int64_t sizes[LBX_TORCH_FEW_AXES];
};

/* The class of a node; NULL, quietly: there is none. */
const struct lbx_torch_node_class *lbx_torch_node_class(struct lbx_torch_nodes *nodes, struct lbx_target *target,
							uint64_t node);
/* Finds the layout by n nodes that computed living tensors; false, quietly: none fits, or several do. */
bool lbx_torch_nodes_decide(struct lbx_torch_nodes *nodes, struct lbx_target *target,
			    const struct lbx_torch_computed *computed, size_t n);
void lbx_torch_nodes_free(struct lbx_torch_nodes *nodes);

/* Those of a node, to be freed; false, quietly: it cannot be read. */
bool lbx_torch_node_edges(const struct lbx_torch_nodes *nodes, struct lbx_target *target, uint64_t node,
			  struct lbx_torch_edge **ret, size_t *ret_n);
/* What a node's only result is like. False, quietly, where that is not known. */
struct lbx_torch_result {
	unsigned dtype;
	int rank;
	int64_t sizes[64];
};
bool lbx_torch_node_result(const struct lbx_torch_nodes *nodes, struct lbx_target *target, uint64_t node,
			   struct lbx_torch_result *ret);
/* The words of a node behind what all nodes have, where it keeps tensors for the way back; returns how many, 0 where it is
 * not known how large it is. */
enum { LBX_TORCH_NODE_WORDS = 256 };
size_t lbx_torch_node_words(const struct lbx_torch_nodes *nodes, struct lbx_target *target, uint64_t node,
			    uint64_t ret[LBX_TORCH_NODE_WORDS]);

#endif
