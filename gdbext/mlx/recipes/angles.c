/* Inverse functions of angles and hyperbolic ones: in float64, and rounded once. */
#include <math.h>

#include "base/error.h"
#include "mlx/recipe.h"

static int as_double(struct lbx_mlx_node *n, uint32_t i)
{
	int x = lbx_mlx_input(n, i);

	if (x == LBX_FAIL)
		return LBX_FAIL;
	if (lbx_mlx_dtype(n, x) != LB_F32 && !lbx_mlx_is_half(lbx_mlx_dtype(n, x)))
		return lbx_mlx_no_recipe(n, "such a dtype");
	return lbx_step_cast(n->r, x, LB_F64);
}

static int with(const struct lbx_mlx_node *n, int op, int x, double number)
{
	return lbx_step_with(n->r, op, x, number);
}

static int over(const struct lbx_mlx_node *n, int op, int x, int y)
{
	return lbx_step_binary(n->r, op, x, y);
}

/* 1 - x x, or with another sign */
static int around_one(const struct lbx_mlx_node *n, int x, double sign)
{
	return with(n, LB_OP_ADD, with(n, LB_OP_MULTIPLY, over(n, LB_OP_MULTIPLY, x, x), sign), 1);
}

/* Of x from 0 to 1: three times half of the angle, of which the series is short. */
static int series(const struct lbx_mlx_node *n, int x)
{
	enum { HALVED = 3, TERMS = 12 };

	for (int i = 0; i < HALVED; i++) {
		int root = lbx_step_unary(n->r, LB_OP_SQRT, around_one(n, x, 1));
		x = over(n, LB_OP_DIVIDE, x, with(n, LB_OP_ADD, root, 1));
	}
	int square = over(n, LB_OP_MULTIPLY, x, x), y = lbx_step_number(n->r, LB_F64, 1.0 / (2 * TERMS + 1));
	for (int i = TERMS - 1; i >= 0; i--)
		y = with(n, LB_OP_ADD, with(n, LB_OP_MULTIPLY, over(n, LB_OP_MULTIPLY, y, square), -1),
			 1.0 / (2 * i + 1));
	return with(n, LB_OP_MULTIPLY, over(n, LB_OP_MULTIPLY, x, y), 1 << HALVED);
}

static int signed_as(const struct lbx_mlx_node *n, int size, int x)
{
	return lbx_step_where(n->r, with(n, LB_OP_LESS, x, 0), lbx_step_unary(n->r, LB_OP_NEGATIVE, size), size);
}

static int arctan(const struct lbx_mlx_node *n, int x)
{
	int size = lbx_step_unary(n->r, LB_OP_ABS, x), is_large = with(n, LB_OP_GREATER, size, 1);
	int inverse = over(n, LB_OP_DIVIDE, lbx_step_number(n->r, LB_F64, 1), size);
	int angle = series(n, lbx_step_where(n->r, is_large, inverse, size));
	int rest = with(n, LB_OP_ADD, lbx_step_unary(n->r, LB_OP_NEGATIVE, angle), M_PI_2);

	return signed_as(n, lbx_step_where(n->r, is_large, rest, angle), x);
}

int lbx_mlx_recipe_arctan(struct lbx_mlx_node *n)
{
	return lbx_step_cast(n->r, arctan(n, as_double(n, 0)), n->record.dtype);
}

/* By half of the angle. */
int lbx_mlx_recipe_arcsin(struct lbx_mlx_node *n)
{
	int x = as_double(n, 0), root = lbx_step_unary(n->r, LB_OP_SQRT, around_one(n, x, -1));
	int half = arctan(n, over(n, LB_OP_DIVIDE, x, with(n, LB_OP_ADD, root, 1)));

	return lbx_step_cast(n->r, with(n, LB_OP_MULTIPLY, half, 2), n->record.dtype);
}

int lbx_mlx_recipe_arccos(struct lbx_mlx_node *n)
{
	int x = as_double(n, 0);
	int up = lbx_step_unary(n->r, LB_OP_SQRT, with(n, LB_OP_ADD, lbx_step_unary(n->r, LB_OP_NEGATIVE, x), 1));
	int down = lbx_step_unary(n->r, LB_OP_SQRT, with(n, LB_OP_ADD, x, 1));

	return lbx_step_cast(n->r, with(n, LB_OP_MULTIPLY, arctan(n, over(n, LB_OP_DIVIDE, up, down)), 2),
			     n->record.dtype);
}

/* Also of -0. */
static int is_negative(const struct lbx_mlx_node *n, int x)
{
	int inverse = over(n, LB_OP_DIVIDE, lbx_step_number(n->r, LB_F64, 1), x);

	return over(n, LB_OP_LOGICAL_OR, with(n, LB_OP_LESS, x, 0), with(n, LB_OP_LESS, inverse, 0));
}

/* Of both infinite it is as of both 1, of both 0 as of a y that is nothing beside x. */
int lbx_mlx_recipe_arctan2(struct lbx_mlx_node *n)
{
	int y = as_double(n, 0), x = as_double(n, 1), none = lbx_step_number(n->r, LB_F64, 0);
	int above = lbx_step_unary(n->r, LB_OP_ABS, y), beside = lbx_step_unary(n->r, LB_OP_ABS, x);
	int is_one =
	    over(n, LB_OP_LOGICAL_AND, with(n, LB_OP_EQUAL, above, INFINITY), with(n, LB_OP_EQUAL, beside, INFINITY));
	int ratio = lbx_step_where(n->r, with(n, LB_OP_EQUAL, above, 0), none, over(n, LB_OP_DIVIDE, above, beside));
	int angle = arctan(n, lbx_step_where(n->r, is_one, lbx_step_number(n->r, LB_F64, 1), ratio));
	int behind = with(n, LB_OP_ADD, lbx_step_unary(n->r, LB_OP_NEGATIVE, angle), M_PI);
	int up = lbx_step_where(n->r, is_negative(n, x), behind, angle);

	up = lbx_step_where(n->r, is_negative(n, y), lbx_step_unary(n->r, LB_OP_NEGATIVE, up), up);
	int nan = over(n, LB_OP_LOGICAL_OR, lbx_step_unary(n->r, LB_OP_ISNAN, x), lbx_step_unary(n->r, LB_OP_ISNAN, y));
	return lbx_step_cast(n->r, lbx_step_where(n->r, nan, lbx_step_number(n->r, LB_F64, NAN), up), n->record.dtype);
}

/* ---- hyperbolic ones ---- */

/* log(x + root); where x is so small that little of it is left, x itself. */
int lbx_mlx_recipe_arcsinh(struct lbx_mlx_node *n)
{
	int x = as_double(n, 0), size = lbx_step_unary(n->r, LB_OP_ABS, x);
	int root = lbx_step_unary(n->r, LB_OP_SQRT, around_one(n, size, 1));
	int y = signed_as(n, lbx_step_unary(n->r, LB_OP_LOG, over(n, LB_OP_ADD, size, root)), x);

	y = lbx_step_where(n->r, with(n, LB_OP_LESS, size, 1e-5), x, y);
	return lbx_step_cast(n->r, y, n->record.dtype);
}

int lbx_mlx_recipe_arccosh(struct lbx_mlx_node *n)
{
	int x = as_double(n, 0);
	int root = over(n, LB_OP_MULTIPLY, lbx_step_unary(n->r, LB_OP_SQRT, with(n, LB_OP_ADD, x, -1)),
			lbx_step_unary(n->r, LB_OP_SQRT, with(n, LB_OP_ADD, x, 1)));

	return lbx_step_cast(n->r, lbx_step_unary(n->r, LB_OP_LOG, over(n, LB_OP_ADD, x, root)), n->record.dtype);
}

int lbx_mlx_recipe_arctanh(struct lbx_mlx_node *n)
{
	int x = as_double(n, 0), small = with(n, LB_OP_LESS, lbx_step_unary(n->r, LB_OP_ABS, x), 1e-5);
	int ratio = over(n, LB_OP_DIVIDE, with(n, LB_OP_ADD, x, 1),
			 with(n, LB_OP_ADD, lbx_step_unary(n->r, LB_OP_NEGATIVE, x), 1));
	int y = with(n, LB_OP_MULTIPLY, lbx_step_unary(n->r, LB_OP_LOG, ratio), 0.5);

	return lbx_step_cast(n->r, lbx_step_where(n->r, small, x, y), n->record.dtype);
}
