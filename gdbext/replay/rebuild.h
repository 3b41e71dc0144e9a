/* Builds a graph anew, node by node, with the runtime's own operations, so that every check that
 * they make is made again; the shape and dtype that come out must be those that the node
 * claims. */
#ifndef LBX_REBUILD_H
#define LBX_REBUILD_H

#include "lazybones.h"
#include "replay/wire.h"

struct lbx_rebuilt {
	lb_tensor *value;
	lb_tensor *flat; /* its buffer as one axis, for views of it; made when first needed */
};

/* Node `node` over its inputs; `data` is where a leaf's elements are. Fails by base/error.h. */
bool lbx_rebuild(const struct lbx_wire_node *node, void *data, int n_inputs, struct lbx_rebuilt *const *inputs,
		 struct lbx_rebuilt *ret);

#endif
