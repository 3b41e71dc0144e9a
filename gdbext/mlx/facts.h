/* What is told of MLX's arrays beyond what all tensors have. */
#ifndef LBX_MLX_FACTS_H
#define LBX_MLX_FACTS_H

#include "mlx/set.h"

void lbx_mlx_tell_record(struct lbx_mlx_set *s, uint64_t id, const struct lbx_mlx_record *r, lbx_fact_fn *fn,
			 void *context);
void lbx_mlx_tell_set(struct lbx_mlx_set *s, lbx_fact_fn *fn, void *context);

#endif
