/* A breakpoint of a catch was hit: says what happened to whom, and selects a frame. The same for all kinds. */
#ifndef LBX_PLUGIN_CATCH_STOP_H
#define LBX_PLUGIN_CATCH_STOP_H

#include "plugin/stops/nodes.h"

/* What the breakpoint has sent: `CATCH,ARGUMENT,…` of the probe, `fault ADDRESS`, or what begins with the name of those who
 * provide nodes (nodes.h). */
bool lbx_catch_hit(struct lbx_context *context, const char *words);
/* After that: whether the program stays where it has stopped. */
bool lbx_catch_stands(void);
/* A catch wants to stop at a node of theirs, for what `stop` says: tells that. */
void lbx_catch_stop_at_node(struct lbx_context *context, const struct lbx_nodes_ops *of, struct lbx_catch_stop *stop);
/* Selects the frame that it showed last, where the commands of another breakpoint have selected one. */
void lbx_catch_stop_select(void);
/* One of a catch's, between nodes. It goes on only if no catch wants to stop there, since that ends the other ones'
 * commands. */
bool lbx_catch_hit_node(struct lbx_context *context, const struct lbx_nodes_ops *of, int number,
			const struct lbx_node_place *place);

#endif
