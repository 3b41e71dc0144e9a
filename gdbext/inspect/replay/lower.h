/* A graph of another runtime's tensors, lowered: a graph of our operations that gives the same value, by the recipes
 * (tensors/recipe.h) of its provider. Plans and replays are of such a graph. */
#ifndef LBX_LOWER_H
#define LBX_LOWER_H

#include "inspect/graph/graph.h"

struct lbx_lowered {
	struct lbx_graph graph; /* each of its tensors has the number and the name of that which it is a step of */
	uint32_t *results;      /* by node of the graph that was lowered: the node that is its value, or UINT32_MAX */
	void **constants;
	uint32_t n_constants, constants_room;
};

/* Whether the tensor's provider has recipes. */
bool lbx_needs_lowering(const struct lbx_tensor *t);
/* For the first node of the graph. Fails where what it needs has no recipe, or no value: of what it does not need
 * neither matters. The graph must outlive it. */
bool lbx_lower(const struct lbx_graph *graph, uint32_t max_nodes, struct lbx_lowered *ret);
/* Makes another node the value: the one that stands so far before the end. False, without an error: there is none. */
bool lbx_lowered_choose(struct lbx_lowered *lowered, uint32_t from_end);
void lbx_lowered_deinit(struct lbx_lowered *lowered);

#endif
