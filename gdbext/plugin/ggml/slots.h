/* What the breakpoints where a scheduler computes write into its slot, and how that is undone. */
#ifndef LBX_PLUGIN_GGML_SLOTS_H
#define LBX_PLUGIN_GGML_SLOTS_H

#include "plugin/stops/nodes.h"

/* These add to the response what makes each scheduler of the program call the code that lbx_found_callback() tells, and what
 * takes that back, from the next graph on: in a graph that is being computed it has to stay. */
void lbx_slots_arm(void);
bool lbx_slots_are_armed(void);
/* Whether the user has deleted nothing that they need. After a refresh. */
bool lbx_slots_are_whole(void);
/* A scheduler has a callback of the program's own, or there is no room for it: sees to that. */
bool lbx_slots_meet(struct lbx_context *context, uint64_t scheduler);
/* Nobody wants them any more. *ret: nothing is left. False while the answer is awaited. */
bool lbx_slots_release(struct lbx_context *context, bool *ret);
/* Whether they are to go, but could not yet. */
bool lbx_slots_linger(void);
/* As the ops of nodes.h have it. */
bool lbx_slots_leave(struct lbx_context *context, enum lbx_leaving how);
void lbx_slots_forget(void);

#endif
