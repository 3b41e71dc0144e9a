/* Stops at nodes in a program that computes without a scheduler: where its threads come to them. */
#ifndef LBX_PLUGIN_GGML_FORWARD_H
#define LBX_PLUGIN_GGML_FORWARD_H

#include "plugin/stops/nodes.h"

/* The program is about to compute a graph, and no scheduler does: from now on it is one of that kind. The selected thread is
 * at the beginning of ggml_graph_compute(). False while the answer is awaited. */
bool lbx_forward_begin(struct lbx_context *context);
bool lbx_forward_has_begun(void);
/* Likewise, each time, where a catch of values is armed; the call returns to `end`, 0 if that is not known. */
void lbx_forward_meet_graph(struct lbx_context *context, uint64_t end);
/* No catch is left; and one is perhaps to come, which is armed as if the others were still there where the program has stood
 * still. False while the answer is awaited. */
bool lbx_forward_rest(struct lbx_context *context);
bool lbx_forward_look(struct lbx_context *context);
/* Whether the functions are there that a catch needs; fails if not. */
bool lbx_forward_check(const struct lbx_catch *c);
/* Adds to the response what makes it stop for a catch; fails without memory. */
bool lbx_forward_arm(const struct lbx_catch *c);
void lbx_forward_disarm(int catch);
bool lbx_forward_is_whole(const struct lbx_catch *c);
bool lbx_forward_remains(int catch);
void lbx_forward_suspend(const struct lbx_catch *c);
void lbx_forward_forget(void);

#endif
