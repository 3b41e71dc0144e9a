/* The catches that are set, at ggml's nodes (nodes.h). */
#ifndef LBX_PLUGIN_CATCH_NODES_H
#define LBX_PLUGIN_CATCH_NODES_H

#include "plugin/stops/node_look.h"

/* Whether one of n catches is of such. */
bool lbx_catches_want_nodes(const struct lbx_catch *catches, int n);
/* Makes the program, which has them, stop there for a catch; fails without memory. */
bool lbx_catch_add_node(struct lbx_catch *c);

/* In a program that has ggml, or that gdb is in now: makes it stop at its nodes. *ret: it has such. */
bool lbx_catch_arm_nodes(struct lbx_context *context, bool *ret);
/* A program computes a graph without a scheduler: what can be caught there is, of the rest it says so. */
bool lbx_catch_arm_forward(struct lbx_context *context);
/* gdb is about to leave it: the program is as it was, or will be (lbx_nodes_leave). */
bool lbx_catch_leave_nodes(struct lbx_context *context, enum lbx_leaving how);
/* gdb is about to begin with another process, or finds itself in one. */
void lbx_catch_forget_nodes(void);
/* At a node: whether that catch wants to stop (node_look.h), and if not, whether another does. False as lbx_node_look(). */
bool lbx_catches_look(struct lbx_context *context, int number, const struct lbx_node *node,
		      struct lbx_catch_stop *ret_stop, bool *ret, bool *ret_another);

#endif
