/* A node of ggml's as its recipe sees it, and what recipes are made of. ggml counts axes from the innermost one; so does `d`
 * here. Values of recipes have all four axes. */
#ifndef LBX_GGML_NODE_H
#define LBX_GGML_NODE_H

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
	int viewed; /* likewise, what the tensor is a view of */
	struct lbx_recipe *r;
	bool has_gaps; /* its function jumps, as rounding does (tensors/doubt.h) */
	int64_t shape[LBX_GGML_AXES]; /* of the result, outermost axis first */
};

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

#endif
