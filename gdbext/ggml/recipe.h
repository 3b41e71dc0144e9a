/* How a node of ggml's is computed by operations of ours: a recipe (tensors/recipe.h) for each of its operations that
 * recipes.def names. ggml counts axes from the innermost one; so does `d` here. Values of recipes have all four axes. */
#ifndef LBX_GGML_RECIPE_H
#define LBX_GGML_RECIPE_H

#include "ggml/record.h"
#include "tensors/recipe.h"

/* Tables of names of a build, looked for when they are needed; -1: not yet. */
struct lbx_ggml_kinds {
	int n_unary, n_gated;
	char unary[LBX_GGML_KINDS][LBX_GGML_TEXT], gated[LBX_GGML_KINDS][LBX_GGML_TEXT];
};

/* What a recipe is made of. */
struct lbx_ggml_node {
	struct lbx_target *target;
	const struct lbx_ggml_anchor *anchor;
	struct lbx_ggml_kinds *kinds;
	const struct lbx_tensor *tensor;
	struct lbx_ggml_record record;
	int sources[LBX_GGML_SOURCES]; /* which input each is; -1: there is none */
	int viewed;		    /* likewise, what the tensor is a view of */
	struct lbx_recipe *r;
	int64_t shape[LBX_GGML_AXES];  /* of the result, outermost axis first */
};

/* Adds the steps; the value, or LBX_FAIL, with an error, where there is no recipe. */
int lbx_ggml_recipe(struct lbx_ggml_node *n);
/* The name of the i-th operation that has a recipe, and how near it comes to what ggml computes; NULL: there are i. */
const char *lbx_ggml_recipe_name(size_t i, const char **ret_near);

/* ---- for recipes ---- */

enum { LBX_GGML_AXIS_0 = 3 }; /* of a value: its innermost one */

static inline bool lbx_ggml_has(const struct lbx_ggml_node *n, int source)
{
	return n->sources[source] >= 0;
}

static inline int32_t lbx_ggml_int(const struct lbx_ggml_node *n, int param)
{
	return n->record.params[param];
}

static inline float lbx_ggml_float(const struct lbx_ggml_node *n, int param)
{
	float value;

	__builtin_memcpy(&value, &n->record.params[param], sizeof value);
	return value;
}

/* A source with four axes, as it is, or as float32. */
int lbx_ggml_source(struct lbx_ggml_node *n, int source);
int lbx_ggml_source_float(struct lbx_ggml_node *n, int source);
/* Elements of a value along ggml's axis d. */
int64_t lbx_ggml_ne(const struct lbx_ggml_node *n, int value, int d);
/* A value again and again until it has a shape. */
int lbx_ggml_repeat(struct lbx_ggml_node *n, int value, const int64_t *shape);
/* Fails: something of the operation has no recipe. LBX_FAIL. */
int lbx_ggml_no_recipe(const struct lbx_ggml_node *n, const char *what);
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
#undef RECIPE

#endif
