/* The catches that are set, at the nodes of a program that nobody has prepared (nodes.h). */
#ifndef LBX_PLUGIN_CATCH_NODES_H
#define LBX_PLUGIN_CATCH_NODES_H

#include "plugin/stops/guests.h"

/* Whether nodes are of the catch's kind, and the program has what it is of; fails if not. */
bool lbx_catch_check_nodes(const struct lbx_nodes_ops *of, const struct lbx_catch *c);

/* In a program that has nodes, or that gdb is in now: makes it stop there. */
bool lbx_catch_arm_nodes(struct lbx_context *context);
/* gdb is about to leave it: the program is as it was, or will be. */
bool lbx_catch_leave_nodes(struct lbx_context *context, enum lbx_leaving how);
/* gdb is about to begin with another process, or finds itself in one. */
void lbx_catch_forget_nodes(void);
/* At nodes: whether that catch wants to stop (node_look.h), and if not, whether another does. False as lbx_node_look(). */
bool lbx_catches_look(struct lbx_context *context, const struct lbx_nodes_ops *of, int number,
		      const struct lbx_node_place *place, struct lbx_catch_stop *ret_stop, bool *ret,
		      bool *ret_another);

#endif
