/* An array of MLX's as inspections see it. */
#ifndef LBX_MLX_DECODE_H
#define LBX_MLX_DECODE_H

#include "mlx/set.h"

/* False, quietly, where it is none any more, or is damaged. */
bool lbx_mlx_decode(struct lbx_mlx_set *s, uint64_t id, const struct lbx_mlx_record *r, struct lbx_tensor *ret);

#endif
