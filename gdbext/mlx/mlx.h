/* The arrays of MLX, as a provider: of a program that nobody has prepared, in C++ or in Python. */
#ifndef LBX_MLX_H
#define LBX_MLX_H

#include "tensors/tensors.h"

/* Whether one of the program's modules is MLX's, as far as that shows; quiet. */
bool lbx_mlx_is_there(struct lbx_target *target);
/* False, without an error, where the program has no MLX; fails where it has one that cannot be read. All else as
 * lbx_torch_open() has it (torch/torch.h). */
bool lbx_mlx_open(struct lbx_target *target, bool let_go, bool (*progress)(void *context, int64_t done), void *context,
		  struct lbx_tensors **ret);

#endif
