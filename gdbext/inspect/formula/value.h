/* What a part of a formula is while its recipe is written: a step, or a number that takes the dtype of what it meets. */
#ifndef LBX_FORMULA_VALUE_H
#define LBX_FORMULA_VALUE_H

#include "inspect/formula/build.h"

struct lbx_formula_value {
	bool is_number, is_whole;
	double number;
	int step;
};

struct lbx_formula_build {
	const struct lbx_formula_tree *tree;
	const struct lbx_formula_names *names;
	struct lbx_recipe *r;
	int index; /* the node that is looked at as an index, or as all there is */
};

/* A call: its receiver, if it is a method, counts as the first argument. */
enum { LBX_FORMULA_ARGS = 33 };
struct lbx_formula_call {
	int node;
	const char *name; /* of the row */
	int op;
	int n, args[LBX_FORMULA_ARGS]; /* nodes; those without a keyword */
};

typedef bool lbx_formula_apply(struct lbx_formula_build *b, const struct lbx_formula_call *call,
			       struct lbx_formula_value *ret);

struct lbx_formula_function {
	const char *name;
	lbx_formula_apply *apply;
	int op; /* LB_OP_… */
	int least, most; /* arguments without keywords */
	const char *keywords; /* that it takes: "axis keepdims"; or NULL */
};

/* NULL: there is none of that name. */
const struct lbx_formula_function *lbx_formula_function(const struct lbx_formula_tree *tree, int node);
/* What there is, for who has misspelt one: the nearest, or a list. */
void lbx_formula_suggest(const char *word, char *ret, size_t size);

bool lbx_formula_value_of(struct lbx_formula_build *b, int node, struct lbx_formula_value *ret);
/* Never a number: one becomes a tensor of no axes. */
bool lbx_formula_tensor_of(struct lbx_formula_build *b, int node, struct lbx_formula_value *ret);
bool lbx_formula_make_tensor(struct lbx_formula_build *b, struct lbx_formula_value *value);
/* An elementwise operation over n values, by the runtime's rules of dtypes; at: for errors. */
bool lbx_formula_elementwise(struct lbx_formula_build *b, int at, const char *name, int op, int n,
			     const struct lbx_formula_value *x, struct lbx_formula_value *ret);
bool lbx_formula_multiply(struct lbx_formula_build *b, int at, const struct lbx_formula_value *x,
			  const struct lbx_formula_value *y, struct lbx_formula_value *ret);
bool lbx_formula_cast(struct lbx_formula_build *b, struct lbx_formula_value *x, enum lb_dtype dtype);

static inline const struct lbx_step *lbx_formula_step(const struct lbx_formula_build *b,
						      const struct lbx_formula_value *x)
{
	return lbx_step(b->r, x->step);
}

/* Sets the step; false where it has failed: the recipe's error gets its place. */
bool lbx_formula_take(struct lbx_formula_build *b, int at, int step, struct lbx_formula_value *ret);

#endif
