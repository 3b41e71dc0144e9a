/* Which version of MLX the program has: from 0.29.1 on a function of it returns the text. */
#ifndef LBX_MLX_VERSION_H
#define LBX_MLX_VERSION_H

#include <stdbool.h>
#include <stdint.h>

struct lbx_mlx_set; /* mlx/set.h */
struct lbx_target;
struct lbx_loaded;

/* Whether a module is MLX's library, as far as its name tells. */
bool lbx_mlx_is_library(struct lbx_target *target, const struct lbx_loaded *m);
/* Whether code is its library's. */
bool lbx_mlx_is_code(const struct lbx_mlx_set *s, uint64_t address);
/* As 3204 for 0.32.4; up to LBX_MLX_ABOUT it is at least that, and less than the next of 2100, 2200, 2800, 2900, 2901;
 * LBX_MLX_UNKNOWN: what it has cannot be read. */
enum { LBX_MLX_UNKNOWN = -1, LBX_MLX_ABOUT = 2900 };
int lbx_mlx_version(struct lbx_mlx_set *s);

#endif
