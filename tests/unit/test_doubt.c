/* How sure what a recipe computes is of what the program will compute (tensors/doubt.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tensors/recipe.h"

/* A recipe over one input of floats. */
static int begin(struct lbx_recipe *r, enum lbx_doubt doubt)
{
	struct lbx_step x = {
		.op = LB_OP_DATA, .dtype = LB_F32, .rank = 1, .shape = { 4 }, .strides = { 1 }, .doubt = doubt
	};

	*r = (struct lbx_recipe){ 0 };
	assert_true(lbx_recipe_add_input(r, &x));
	return 0;
}

/* The recipe ends. */
static void is(struct lbx_recipe *r, int value, enum lbx_doubt expected)
{
	lbx_recipe_settle(r);
	assert_true(value != LBX_FAIL);
	assert_int_equal(lbx_step(r, value)->doubt, expected);
	lbx_recipe_deinit(r);
}

static void one_rounding_has_the_same_bits(void **state)
{
	struct lbx_recipe r;
	int x = begin(&r, LBX_EXACT);

	(void)state;
	int y = lbx_step_binary(&r, LB_OP_ADD, lbx_step_with(&r, LB_OP_MULTIPLY, x, 3), x);
	is(&r, lbx_step_rows(&r, LB_OP_ARGSORT, lbx_step_cast(&r, y, LB_BF16)), LBX_EXACT);
}

static void functions_and_sums_are_within_an_error(void **state)
{
	struct lbx_recipe r;
	int x;

	(void)state;
	x = begin(&r, LBX_EXACT);
	is(&r, lbx_step_unary(&r, LB_OP_EXP, x), LBX_WITHIN);
	x = begin(&r, LBX_EXACT);
	is(&r, lbx_step_reduce(&r, LB_OP_SUM, x, 1), LBX_WITHIN);
	x = begin(&r, LBX_EXACT); /* of integers in any order */
	is(&r, lbx_step_reduce(&r, LB_OP_SUM, lbx_step_cast(&r, x, LB_I32), 1), LBX_EXACT);
	x = begin(&r, LBX_WITHIN); /* the greatest is as near as they are */
	is(&r, lbx_step_reduce(&r, LB_OP_MAX, x, 1), LBX_WITHIN);
	x = begin(&r, LBX_EXACT);
	is(&r, lbx_step_binary(&r, LB_OP_MULTIPLY, lbx_step_cast(&r, x, LB_C64), lbx_step_cast(&r, x, LB_C64)),
	   LBX_WITHIN);
}

static void what_they_decide_may_be_another(void **state)
{
	struct lbx_recipe r;
	int x;

	(void)state;
	x = begin(&r, LBX_WITHIN);
	is(&r, lbx_step_cast(&r, x, LB_I32), LBX_DECIDED);
	x = begin(&r, LBX_WITHIN);
	is(&r, lbx_step_unary(&r, LB_OP_FLOOR, x), LBX_DECIDED);
	x = begin(&r, LBX_WITHIN);
	int most = lbx_step_arg(&r, LB_OP_ARGMAX, x, 0); /* and what is chosen by it */
	is(&r, lbx_step_take(&r, lbx_step_arange(&r, 4), most, 0), LBX_DECIDED);
	x = begin(&r, LBX_WITHIN);
	int where = lbx_step_where(&r, lbx_step_with(&r, LB_OP_LESS, x, 0), lbx_step_number(&r, LB_F32, 1), x);
	is(&r, where, LBX_DECIDED);
}

/* relu(), erfinv() and their like have two formulas that meet. */
static void but_where_a_function_has_no_gap(void **state)
{
	struct lbx_recipe r;
	int x, y;

	(void)state;
	for (enum lbx_doubt of = LBX_EXACT; of <= LBX_DECIDED; of++) {
		x = begin(&r, of);
		y = lbx_step_where(&r, lbx_step_with(&r, LB_OP_LESS, lbx_step_unary(&r, LB_OP_EXP, x), 1), x,
				   lbx_step_number(&r, LB_F32, 0));
		lbx_step_has_no_gap(&r, y, 1, &x);
		is(&r, y, of == LBX_DECIDED ? LBX_DECIDED : LBX_WITHIN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_rounding_has_the_same_bits),
		cmocka_unit_test(functions_and_sums_are_within_an_error),
		cmocka_unit_test(what_they_decide_may_be_another),
		cmocka_unit_test(but_where_a_function_has_no_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
