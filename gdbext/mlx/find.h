/* How the arrays of MLX are found: by the virtual table of their shared_ptrs' counts, all that leads to one, and the layout that
 * fits them. */
#ifndef LBX_MLX_FIND_H
#define LBX_MLX_FIND_H

#include "mlx/set.h"

/* Fills a set that has a target with what may be arrays, also while the program runs. As lbx_mlx_open() has it. */
bool lbx_mlx_set_search(struct lbx_mlx_set *s, bool (*progress)(void *context, int64_t done), void *context);
/* Keeps those that are, and finds their buffers. */
bool lbx_mlx_set_take(struct lbx_mlx_set *s);

#endif
