/* What the program's threads do for MLX: those of its streams, which take one task after the other from a queue, and those that
 * wait for them. An evaluation has made the tasks, a few an array, before the first begins. */
#ifndef LBX_MLX_STREAMS_H
#define LBX_MLX_STREAMS_H

#include "mlx/set.h"
#include "tensors/work.h"

/* As `work` of struct lbx_tensors_ops. */
bool lbx_mlx_work(struct lbx_tensors *tensors, struct lbx_stacks *stacks, uint64_t *slot, struct lbx_work *ret);

#endif
