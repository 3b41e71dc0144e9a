/* Expressions over a program's tensors wherever values are wanted: `print abs(q - k.T).max()`. They are computed outside the
 * program, as lazy tensors are: only what is needed is read, and replayed.
 *
 * A formula is a set of tensors with a recipe (tensors/recipe.h): its one tensor has those that it names for inputs, of
 * whatever provider, lazy or not. What is only another look at memory, as `x.T`, is not computed. */
#ifndef LBX_FORMULA_H
#define LBX_FORMULA_H

#include "inspect/command.h"
#include "inspect/tensor/slice.h"

struct lbx_formula;

enum lbx_formula_sort {
	LBX_FORMULA_IS_NONE, /* it is a name, or C's */
	LBX_FORMULA_IS_LOOKUP, /* it may be C's: `weights[i]`; and if it is not, a formula */
	LBX_FORMULA_IS_ONE,
	LBX_FORMULA_IS_BROKEN, /* it would be one, but for its syntax: the error tells, which is set */
};

/* What the text is, by its syntax alone. */
enum lbx_formula_sort lbx_formula_sort(const char *text);
/* Finds what a name in it stands for: a tensor, and what of it is meant; false, with an error: it is none. */
typedef bool lbx_formula_find(struct lbx_context *context, const char *text, struct lbx_tensor *ret,
			      struct lbx_slice *ret_slice);
/* Its value, as a tensor without id and record, named as it is written, good until the context is closed. */
bool lbx_formula_compute(struct lbx_context *context, const char *text, lbx_formula_find *find, struct lbx_tensor *ret);
/* The slice that the text ends with, whose brackets begin at that byte, of that tensor: its numbers may be the program's, or
 * computed, as in `x[i + 1:n]`. Fails with a caret under the place, also for what is a tensor there. */
bool lbx_formula_slice(struct lbx_context *context, const char *text, int at, const struct lbx_tensor *of,
		       lbx_formula_find *find, struct lbx_slice *ret);
void lbx_formulas_destroy(struct lbx_formula *formulas); /* those of a context; NULL is fine */

#endif
