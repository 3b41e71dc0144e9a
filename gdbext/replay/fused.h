/* Nodes of op `fused`: their programs, operation by operation, as the runtime's own functions
 * check them. */
#ifndef LBX_FUSED_H
#define LBX_FUSED_H

#include "replay/rebuild.h"

lb_tensor *lbx_rebuild_fused(const struct lbx_wire_node *node, const void *data, int n_inputs,
			     struct lbx_rebuilt *const *inputs);

#endif
