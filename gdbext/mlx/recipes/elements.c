/* Element by element. MLX gives both operands one dtype beforehand. */
#include "mlx/recipe.h"

/* Numbers that C++ and our kernels compute alike: truth values add up differently, complex ones are rounded differently. */
static bool is_number(const struct lbx_mlx_node *n, int x)
{
	return (lbx_mlx_dtype(n, x) != LB_BOOL && lbx_mlx_dtype(n, x) != LB_C64) ||
	       lbx_mlx_no_recipe(n, "such a dtype") != LBX_FAIL;
}

int lbx_mlx_recipe_cast(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0);

	if (x == LBX_FAIL)
		return LBX_FAIL;
	if ((lbx_mlx_dtype(n, x) == LB_C64) != (n->record.dtype == LB_C64))
		return lbx_mlx_no_recipe(n, "such a dtype");
	return lbx_step_cast(n->r, x, n->record.dtype);
}

/* Those of floats are of floats; those that take integers give them. */
int lbx_mlx_recipe_unary(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0);

	if (x == LBX_FAIL || (n->code != LB_OP_LOGICAL_NOT && !is_number(n, x)))
		return LBX_FAIL;
	if (n->code == LB_OP_LOGICAL_NOT && lbx_mlx_dtype(n, x) != LB_BOOL)
		return lbx_mlx_no_recipe(n, "such a dtype");
	bool any = n->code == LB_OP_ABS || n->code == LB_OP_NEGATIVE || n->code == LB_OP_SQUARE ||
		   n->code == LB_OP_LOGICAL_NOT;
	if (!any && !lb_dtype_is_float((int)lbx_mlx_dtype(n, x)))
		return lbx_mlx_no_recipe(n, "such a dtype");
	return lbx_step_unary(n->r, n->code, x);
}

int lbx_mlx_recipe_to_whole(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0);

	if (x == LBX_FAIL || !is_number(n, x))
		return LBX_FAIL;
	return lb_dtype_is_float((int)lbx_mlx_dtype(n, x)) ? lbx_step_unary(n->r, n->code, x) : x;
}

/* In float32 for halves: MLX rounds once. Bases: 2, 10, e. */
int lbx_mlx_recipe_logarithm(struct lbx_mlx_node *n)
{
	static const double factors[] = { 1.4426950408889634, 0.4342944819032518, 1 };
	int x = lbx_mlx_input(n, 0);
	int32_t base;

	if (x == LBX_FAIL || !lbx_mlx_int(n, LBX_MLX_OWN, &base))
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, x);
	if (base < 0 || base > 2 || !lb_dtype_is_float((int)dtype))
		return lbx_mlx_no_recipe(n, "such a base or dtype");
	int y = lbx_step_unary(n->r, LB_OP_LOG, lbx_mlx_is_half(dtype) ? lbx_step_cast(n->r, x, LB_F32) : x);
	if (base < 2)
		y = lbx_step_with(n->r, LB_OP_MULTIPLY, y, factors[base]);
	return lbx_step_cast(n->r, y, dtype);
}

int lbx_mlx_recipe_root(struct lbx_mlx_node *n)
{
	bool reciprocal;

	if (!lbx_mlx_flag(n, LBX_MLX_OWN, &reciprocal))
		return LBX_FAIL;
	n->code = reciprocal ? LB_OP_RSQRT : LB_OP_SQRT;
	return lbx_mlx_recipe_unary(n);
}

static bool operands(struct lbx_mlx_node *n, int *a, int *b)
{
	*a = lbx_mlx_input(n, 0);
	*b = lbx_mlx_input(n, 1);
	if (*a == LBX_FAIL || *b == LBX_FAIL)
		return false;
	return lbx_mlx_dtype(n, *a) == lbx_mlx_dtype(n, *b) || lbx_mlx_no_recipe(n, "such dtypes") != LBX_FAIL;
}

int lbx_mlx_recipe_binary(struct lbx_mlx_node *n)
{
	int a, b;

	if (!operands(n, &a, &b) || !is_number(n, a))
		return LBX_FAIL;
	bool floats = n->code == LB_OP_DIVIDE || n->code == LB_OP_POWER || n->code == LB_OP_LOGADDEXP;
	if (floats && !lb_dtype_is_float((int)lbx_mlx_dtype(n, a)))
		return lbx_mlx_no_recipe(n, "integers");
	return lbx_step_binary(n->r, n->code, a, b);
}

int lbx_mlx_recipe_compare(struct lbx_mlx_node *n)
{
	int a, b;

	if (!operands(n, &a, &b))
		return LBX_FAIL;
	if (lbx_mlx_dtype(n, a) == LB_C64)
		return lbx_mlx_no_recipe(n, "such a dtype");
	return lbx_step_binary(n->r, n->code, a, b);
}

int lbx_mlx_recipe_equal(struct lbx_mlx_node *n)
{
	bool equal_nan;
	int a, b;

	if (!operands(n, &a, &b) || !lbx_mlx_flag(n, LBX_MLX_OWN, &equal_nan))
		return LBX_FAIL;
	int equal = lbx_mlx_recipe_compare(n);
	if (!equal_nan || equal == LBX_FAIL || !lb_dtype_is_float((int)lbx_mlx_dtype(n, a)))
		return equal;
	int both = lbx_step_binary(n->r, LB_OP_LOGICAL_AND, lbx_step_unary(n->r, LB_OP_ISNAN, a),
				   lbx_step_unary(n->r, LB_OP_ISNAN, b));
	return lbx_step_binary(n->r, LB_OP_LOGICAL_OR, equal, both);
}

/* By powers of two, which are exact: what is shifted out to the left is lost, to the right it is rounded down. */
static int shift(struct lbx_mlx_node *n, int a, int b, bool left)
{
	enum { MOST = 32 };
	float powers[MOST];
	enum lb_dtype dtype = lbx_mlx_dtype(n, a);

	if (lbx_dtype_bytes(dtype) > 4 || dtype == LB_BOOL || lb_dtype_is_inexact((int)dtype))
		return lbx_mlx_no_recipe(n, "such a dtype");
	for (int i = 0; i < MOST; i++)
		powers[i] = (float)(UINT64_C(1) << i);
	int by = lbx_step_take(n->r, lbx_step_constant(n->r, powers, MOST), b, 0);
	by = lbx_step_cast(n->r, by, LB_F64);
	if (left)
		return lbx_step_binary(n->r, LB_OP_MULTIPLY, a,
				       lbx_step_cast(n->r, lbx_step_cast(n->r, by, LB_I64), dtype));
	int y = lbx_step_binary(n->r, LB_OP_DIVIDE, lbx_step_cast(n->r, a, LB_F64), by);
	return lbx_step_cast(n->r, lbx_step_unary(n->r, LB_OP_FLOOR, y), dtype);
}

/* Of truth values, and shifts. */
int lbx_mlx_recipe_bitwise(struct lbx_mlx_node *n)
{
	enum { AND, OR, XOR, LEFT, RIGHT };
	static const int codes[] = { LB_OP_LOGICAL_AND, LB_OP_LOGICAL_OR, LB_OP_NOT_EQUAL };
	int32_t op;
	int a, b;

	if (!operands(n, &a, &b) || !lbx_mlx_int(n, LBX_MLX_OWN, &op))
		return LBX_FAIL;
	if (op == LEFT || op == RIGHT)
		return shift(n, a, b, op == LEFT);
	if (op < AND || op > XOR || lbx_mlx_dtype(n, a) != LB_BOOL)
		return lbx_mlx_no_recipe(n, "bits of integers");
	return lbx_step_binary(n->r, codes[op], a, b);
}

int lbx_mlx_recipe_select(struct lbx_mlx_node *n)
{
	int condition = lbx_mlx_input(n, 0), x = lbx_mlx_input(n, 1), y = lbx_mlx_input(n, 2);

	if (condition == LBX_FAIL || x == LBX_FAIL || y == LBX_FAIL)
		return LBX_FAIL;
	if (lbx_mlx_dtype(n, condition) != LB_BOOL || lbx_mlx_dtype(n, x) != lbx_mlx_dtype(n, y))
		return lbx_mlx_no_recipe(n, "such dtypes");
	return lbx_step_where(n->r, condition, x, y);
}
