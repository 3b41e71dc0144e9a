/* How a lazy array of MLX's is computed by operations of ours: a recipe (tensors/recipe.h) for each of the primitives that
 * recipes.def names. */
#ifndef LBX_MLX_RECIPE_H
#define LBX_MLX_RECIPE_H

#include "mlx/node.h"

/* Adds the steps; the value, or LBX_FAIL, with an error, where there is no recipe. */
int lbx_mlx_recipe(struct lbx_mlx_node *n);

/* ---- what recipes share ---- */

static inline bool lbx_mlx_is_half(enum lb_dtype dtype)
{
	return dtype == LB_F16 || dtype == LB_BF16;
}

/* Gather, where several axes have indices. */
int lbx_mlx_recipe_gather_several(struct lbx_mlx_node *n, int n_axes, const int64_t *axes, const int64_t *sizes);

#define RECIPE(name, function, operation) int lbx_mlx_recipe_##function(struct lbx_mlx_node *n);
#include "mlx/recipes.def"

#endif
