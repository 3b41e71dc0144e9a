/* What of each node of a graph is needed for a region of the first one. */
#ifndef LBX_DEMAND_H
#define LBX_DEMAND_H

#include "inspect/graph/graph.h"
#include "inspect/replay/region.h"

struct lbx_demand {
	bool needed;
	bool as_it_is; /* all of it, in its own layout */
	bool spans;    /* of a ready tensor: with what lies between in its buffer, in its layout */
	bool in_part;  /* computed from parts of its inputs: lbx_need_of() */
	int op;        /* lbx_op_number() */
	uint32_t base; /* node whose buffer a view looks at; otherwise itself */
	struct lbx_region region;
};

/* One for each node of the graph, by index; to be freed. NULL: out of memory. */
struct lbx_demand *lbx_demands_of(const struct lbx_graph *graph, const struct lbx_region *region);
/* Everything, as it is. */
struct lbx_demand *lbx_demand_all(const struct lbx_graph *graph);

bool lbx_is_view(const struct lbx_graph_node *node);
/* Where a tensor's elements are in its buffer, or in its base's. */
void lbx_strided_of(const struct lbx_graph_node *node, struct lbx_strided *ret);

#endif
