/* Which variables keep a graph of what is lazy, and what that keeps for them (tensors/held.h). */
#ifndef LBX_MLX_KEEPERS_H
#define LBX_MLX_KEEPERS_H

#include "mlx/set.h"

bool lbx_mlx_keeper(struct lbx_mlx_set *s, uint64_t *slot, struct lbx_keeper *ret);

#endif
