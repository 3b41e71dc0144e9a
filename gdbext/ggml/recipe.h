/* How a node of ggml's is computed by operations of ours: a recipe (tensors/recipe.h) for each of its operations that
 * recipes.def names. */
#ifndef LBX_GGML_RECIPE_H
#define LBX_GGML_RECIPE_H

#include "ggml/node.h"

/* Adds the steps; the value, or LBX_FAIL, with an error, where there is no recipe. */
int lbx_ggml_recipe(struct lbx_ggml_node *n);
/* The name of the i-th operation that has a recipe, and how near it comes to what ggml computes; NULL: there are i. */
const char *lbx_ggml_recipe_name(size_t i, const char **ret_near);
/* Likewise of those that are known to have none, and why: "OWN", "TRAINING", "RARE". */
const char *lbx_ggml_no_recipe_name(size_t i, const char **ret_why);

/* ---- what recipes share ---- */

/* By its name in the build's tables. */
int lbx_ggml_unary(struct lbx_ggml_node *n, const char *kind, int x);
/* exp(x - max) over its sum along the innermost axis; sinks (-1: none), one a head, are in the sum. What is -inf
 * throughout gives 0 if `empty` says so. */
int lbx_ggml_softmax(struct lbx_ggml_node *n, int x, int sinks, bool empty);
/* A mask's share: times each head's slope of ALiBi, and spread over x. */
int lbx_ggml_mask(struct lbx_ggml_node *n, int mask, int x, float max_bias);
/* (ne3, ne2, rows of b, rows of a): each row of a with each of b; a's matrices serve several of b's in turn. */
int lbx_ggml_product(struct lbx_ggml_node *n, int a, int b);
/* Along an axis of x, `count` windows of k elements each: the axis becomes two. Elements are `dilation` apart, windows
 * `stride`; x is padded by `value` in front, and behind as far as they reach. */
struct lbx_ggml_windows {
	int axis;
	int64_t count, k, stride, padding, dilation;
};
int lbx_ggml_windowed(struct lbx_ggml_node *n, int x, const struct lbx_ggml_windows *w, double value);

#define RECIPE(name, function, ...) int lbx_ggml_recipe_##function(struct lbx_ggml_node *n);
#include "ggml/recipes.def"

#endif
