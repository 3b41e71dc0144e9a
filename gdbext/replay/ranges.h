/* What the value of each node holds: ranges, and how many NaN and Inf; and the steps of one element. */
#ifndef LBX_REPLAY_RANGES_H
#define LBX_REPLAY_RANGES_H

#include "replay/rebuild.h"

/* Computes x, and sums up its elements in row-major order. */
bool lbx_range_of(lb_tensor *x, struct lbx_summary *ret);
/* Computes an elementwise node of one element step by step; returns how many steps, at most
 * LB_PROGRAM_INSNS, 0 for a node of another class. -1 on error. */
int lbx_steps_of(const struct lbx_wire_node *node, const void *data, int n_inputs, struct lbx_rebuilt *const *inputs,
		 struct lbx_wire_step *ret);

#endif
