/* What a catch wants at a node that gdb cannot tell by itself: whether its name is one of a glob's, and what its value
 * holds. Only that one record is read, and its elements. */
#ifndef LBX_PLUGIN_NODE_LOOK_H
#define LBX_PLUGIN_NODE_LOOK_H

#include "plugin/stops/nodes.h"

/* *ret: it is to stop there; what it saw is among the arguments of ret_stop, as the runtime's probe would give it. False
 * where it was interrupted, or gdb has still to answer. */
bool lbx_node_look(struct lbx_context *context, const struct lbx_nodes_ops *of, struct lbx_catch *c,
		   const struct lbx_node_place *place, struct lbx_catch_stop *ret_stop, bool *ret);
/* The node as its record has it: that is there where the program has given up the context that holds it. */
bool lbx_node_tensor(struct lbx_context *context, const struct lbx_nodes_ops *of, uint64_t address,
		     struct lbx_tensor *ret);
/* What it remembers of nodes that hold NaN is of no use. */
void lbx_node_look_forget(void);

#endif
