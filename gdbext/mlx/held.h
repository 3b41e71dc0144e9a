/* Who holds an array of a Python program (tensors/held.h). */
#ifndef LBX_MLX_HELD_H
#define LBX_MLX_HELD_H

#include "mlx/set.h"

/* *ret is all 0. */
void lbx_mlx_held_tell(struct lbx_mlx_set *s, uint64_t id, struct lbx_held *ret);
/* As `facts` of a provider. */
void lbx_mlx_holder_fact(struct lbx_mlx_set *s, uint64_t id, lbx_fact_fn *fn, void *context);

#endif
