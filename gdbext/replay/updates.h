/* Rebuilds the operations of class UPDATE. */
#ifndef LBX_REPLAY_UPDATES_H
#define LBX_REPLAY_UPDATES_H

#include "replay/rebuild.h"

/* x has as many inputs as the operation takes. */
lb_tensor *lbx_rebuild_update(int op, const struct lbx_wire_node *node, lb_tensor *const *x);

#endif
