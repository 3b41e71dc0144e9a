/* Stops at the nodes that ggml computes, in a program that nobody has prepared (ggml/callback.h). nodes.c tells how. */
#ifndef LBX_PLUGIN_NODES_H
#define LBX_PLUGIN_NODES_H

#include "ggml/callback.h"
#include "plugin/stops/catch_kinds.h"

enum lbx_nodes {
	LBX_NODES_NONE, /* there is no program, or it has no ggml, or not yet */
	LBX_NODES_THERE,
	LBX_NODES_REFUSED /* it cannot be stopped there: lbx_nodes_why() */
};

/* Looks at the program. False while the answer is awaited. */
bool lbx_nodes_find(struct lbx_context *context, enum lbx_nodes *ret);
const char *lbx_nodes_why(void);
/* Of the program where they are there. */
const struct lbx_ggml_callback *lbx_nodes_callback(void);
const struct lbx_ggml_anchor *lbx_nodes_anchor(void);
/* Whether the schedulers get the callback already; else it is from the next graph on. */
bool lbx_nodes_are_armed(void);

/* Whether what was armed is this process, as far as that shows. */
bool lbx_nodes_are_here(struct lbx_context *context);

/* Whether a catch is of anything that the program's ggml has; fails if not. Where they are there. */
bool lbx_nodes_check(const struct lbx_catch *c);
/* These add to the response what makes it stop for a catch, and no longer. */
void lbx_nodes_add(const struct lbx_catch *c, const struct text *condition);
/* Likewise, without a scheduler, before a node: where a thread comes to it. */
void lbx_nodes_add_forward(const struct lbx_catch *c, const struct text *condition);
void lbx_nodes_remove(int catch);
/* Of a program that comes: it is looked at when it makes a scheduler, or computes a graph without one. */
void lbx_nodes_need(void);
/* It builds a graph: it may be going to compute that without a scheduler. */
void lbx_nodes_build(void);
/* It is about to compute a graph, and no scheduler does. */
void lbx_nodes_have_computed(void);
bool lbx_nodes_are_forward(void);

/* A scheduler was left alone: says why, and lets the program go on. */
bool lbx_nodes_tell_left(struct lbx_context *context, uint64_t scheduler);

/* No catch wants them any more. False while the answer is awaited. */
bool lbx_nodes_release(struct lbx_context *context);
/* What could not be undone then, if there is anything, and can now; *ret: it is. Likewise. */
bool lbx_nodes_tidy(struct lbx_context *context, bool *ret);
enum lbx_leaving {
	LBX_LEAVES,
	LBX_LEAVES_NOW, /* the program has run on, and has perhaps not come far enough */
	LBX_KILLS /* or nearly: nobody needs to undo anything */
};
/* gdb is about to leave the program: what was written is as it was. While a graph is being computed the program has to
 * run on: then the response sets a breakpoint where it ends, and $_lb_graph to 1, and this is to be called once more.
 * Likewise. */
bool lbx_nodes_leave(struct lbx_context *context, enum lbx_leaving how);
/* The program's ggml cannot be stopped: it is not to be asked again. */
void lbx_nodes_ask_no_more(void);
/* It is about to begin with another process, or finds itself in one: what it knew is of none. */
void lbx_nodes_forget(void);

#endif
