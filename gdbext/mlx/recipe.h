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

/* Whether this version adds up halves in float32, where it reduces axes, and rounds once; fails where that cannot be told. Until
 * 0.32.2 each step was rounded. */
bool lbx_mlx_sums_wide(const struct lbx_mlx_node *n, bool *ret);
/* Of halves along the last axis, which stays with one element: each step is rounded. */
int lbx_mlx_sum_in_steps(const struct lbx_mlx_node *n, int x);
/* x (…, rows, k) of halves by quantised weights, at `format` (params of our operations): words, scales, biases follow x. */
int lbx_mlx_quantised_halves(const struct lbx_mlx_node *n, const int64_t *format, const int *values);
int lbx_mlx_log1p(struct lbx_mlx_node *n, int x);
/* The elements from `begin` on, each `step` behind the one before, which may be backwards. */
int lbx_mlx_sliced(const struct lbx_mlx_node *n, int x, const int64_t *begin, const int64_t *step,
		   const int64_t *sizes);

/* The same bytes as another dtype, whose size may divide the last axis otherwise. */
int lbx_mlx_as_dtype(const struct lbx_mlx_node *n, int x, enum lb_dtype dtype);
/* Of complex numbers the real (0) or the imaginary part (1), with one more axis of one element; and such parts as complex
 * numbers of that shape. */
int lbx_mlx_part(const struct lbx_mlx_node *n, int x, int which);
int lbx_mlx_complex(const struct lbx_mlx_node *n, int real, int imaginary, int rank, const int64_t *shape);

/* What is computed of complex numbers, by n->code; and from or to them. */
int lbx_mlx_complex_unary(struct lbx_mlx_node *n, int x);
int lbx_mlx_complex_binary(struct lbx_mlx_node *n, int x, int y);
int lbx_mlx_complex_cast(struct lbx_mlx_node *n, int x);

/* An index from the end as one from the beginning, of an axis of that size. */
int lbx_mlx_from_beginning(struct lbx_mlx_node *n, int indices, int64_t size);
/* Gather, where several axes have indices. */
int lbx_mlx_recipe_gather_several(struct lbx_mlx_node *n, int n_axes, const int64_t *axes, const int64_t *sizes);

#define RECIPE(name, function, operation) int lbx_mlx_recipe_##function(struct lbx_mlx_node *n);
#include "mlx/recipes.def"

#endif
