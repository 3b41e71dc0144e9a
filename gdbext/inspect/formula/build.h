/* A formula as a recipe (tensors/recipe.h): steps of the runtime's operations over the tensors that it names, with NumPy's
 * words and the runtime's dtypes. */
#ifndef LBX_FORMULA_BUILD_H
#define LBX_FORMULA_BUILD_H

#include "inspect/formula/syntax.h"
#include "tensors/recipe.h"

/* What the names of a tree stand for; by node. */
struct lbx_formula_names {
	int operand[LBX_FORMULA_NODES]; /* an input of the recipe; or -1 */
	bool is_number[LBX_FORMULA_NODES]; /* a variable of the program that is one */
	double number[LBX_FORMULA_NODES];
	bool is_whole[LBX_FORMULA_NODES];
	char *const *whys; /* why one of them is neither; or NULL */
	struct lbx_slice slices[LBX_FORMULA_NODES]; /* of an operand: what of the tensor it is */
};

/* The steps of a node, behind the inputs that the recipe has. False, with a caret under the place. */
bool lbx_formula_build(const struct lbx_formula_tree *tree, const struct lbx_formula_names *names, int node,
		       struct lbx_recipe *r, int *ret);
/* Whether a node comes to a number: then it is no step. The recipe is written to, for nothing. */
bool lbx_formula_is_number(const struct lbx_formula_tree *tree, const struct lbx_formula_names *names, int node,
			   struct lbx_recipe *r, bool *ret);
/* The items of a tree that lbx_formula_parse_slice() has made, which are numbers, for a tensor of that shape; likewise. */
bool lbx_formula_build_slice(const struct lbx_formula_tree *tree, const struct lbx_formula_names *names,
			     struct lbx_recipe *r, int rank, const int64_t *shape, struct lbx_slice *ret);
/* Whether a NAME or MEMBER is what a call applies, so that it names no tensor: a function, a method, a module of them. */
bool lbx_formula_is_function(const struct lbx_formula_tree *tree, int node);
/* Whether the word is an attribute, as T and shape are. */
bool lbx_formula_is_attribute(const struct lbx_formula_tree *tree, int node);

#endif
