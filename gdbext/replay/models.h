/* Rebuilds what models are made of: the operations of class KERNEL. */
#ifndef LBX_REPLAY_MODELS_H
#define LBX_REPLAY_MODELS_H

#include "replay/rebuild.h"

enum { LBX_MODEL_INPUTS = 5 };

/* x has n inputs, and NULL after them. */
lb_tensor *lbx_rebuild_model(int op, const struct lbx_wire_node *node, int n, lb_tensor *const *x);

#endif
