/* How sure a recipe's values are. Its program computes some operations otherwise than we do, by a bit or two: in another order, or
 * with another exp(). Such a value is within an error. What decides by such values, as argmax and rounding do, gives most
 * elements as the program does, and another one where two were as good as equal: that is no error in the last bits any more. */
#ifndef LBX_DOUBT_H
#define LBX_DOUBT_H

struct lbx_recipe; /* tensors/recipe.h */

enum lbx_doubt {
	LBX_EXACT, /* the program's bits */
	LBX_WITHIN, /* its last bits may be others */
	LBX_DECIDED /* some elements may be others altogether */
};

/* Of all steps that there are, from what those before them are of. */
void lbx_recipe_settle(struct lbx_recipe *r);
/* What is decided within this value's steps leaves no gap, as where a function has two formulas: it is as sure as these values are that
 * it is made of. LBX_FAIL is fine. */
void lbx_step_has_no_gap(struct lbx_recipe *r, int value, int n, const int *of);

#endif
