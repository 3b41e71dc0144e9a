/* Which version of MLX the program has: from 0.29.4 on a function of it returns the text. */
#ifndef LBX_MLX_VERSION_H
#define LBX_MLX_VERSION_H

#include "mlx/set.h"

/* As 3204 for 0.32.4; LBX_MLX_OLDER: it has no such function; LBX_MLX_UNKNOWN: what it has cannot be read. */
enum { LBX_MLX_UNKNOWN = -1, LBX_MLX_OLDER = 0 };
int lbx_mlx_version(struct lbx_mlx_set *s);

#endif
