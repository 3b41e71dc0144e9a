/* Those whose programs stop at nodes (nodes.h), all of them: a process may have several, and a catch is of each that has what it
 * is of. Their order is that of `how` in a catch. */
#ifndef LBX_PLUGIN_GUESTS_H
#define LBX_PLUGIN_GUESTS_H

#include "plugin/stops/nodes.h"

/* Given once, when the plugin is loaded; NULL at the end, LBX_GUESTS at most. */
void lbx_guests_give(const struct lbx_nodes_ops *const *list);
/* The i-th; NULL: there are i. */
const struct lbx_nodes_ops *lbx_guest(int i);
/* The one whose name `words` begin with; *ret_rest: what follows. NULL: none. */
const struct lbx_nodes_ops *lbx_guest_named(const char *words, const char **ret_rest);

/* Whether a catch may be of its nodes: such are there for its kind, and it is of no one else's tensor. Of a
 * free place: no. */
bool lbx_guest_wants(const struct lbx_nodes_ops *guest, const struct lbx_catch *c);
/* Whether a catch stops at anybody's nodes; and at those of all of them where it does so as it should. */
bool lbx_guests_have(const struct lbx_catch *c);
bool lbx_guests_are_whole(const struct lbx_catch *c);

/* What the program has of each; false while the answer is awaited. */
bool lbx_guests_find(struct lbx_context *context, enum lbx_nodes_there ret[LBX_GUESTS]);
/* Whether one has as much. */
bool lbx_guests_any(const enum lbx_nodes_there there[LBX_GUESTS], enum lbx_nodes_there what);

/* As the ops of one: of all of them. */
bool lbx_guests_remain(int catch);
bool lbx_guests_mend(struct lbx_context *context);
void lbx_guests_suspend(const struct lbx_catch *c);
void lbx_guests_disarm(int catch);
/* Of those that no one of n catches is of. */
bool lbx_guests_release(struct lbx_context *context, const struct lbx_catch *catches, int n);
bool lbx_guests_tidy(struct lbx_context *context, const struct lbx_catch *catches, int n, bool *ret);

#endif
