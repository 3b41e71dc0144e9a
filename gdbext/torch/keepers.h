/* Which variables keep autograd's graph, and what that keeps for them (tensors/held.h). */
#ifndef LBX_TORCH_KEEPERS_H
#define LBX_TORCH_KEEPERS_H

#include "torch/set.h"

bool lbx_torch_keeper(struct lbx_torch_set *s, uint64_t *slot, struct lbx_keeper *ret);

#endif
