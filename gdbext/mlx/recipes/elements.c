/* Element by element. MLX gives both operands one dtype beforehand. */
#include <math.h>

#include "mlx/recipe.h"
#include "mlx/version.h"

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
		return lbx_mlx_complex_cast(n, x);
	return lbx_step_cast(n->r, x, n->record.dtype);
}

/* Those of floats are of floats; those that take integers give them. */
int lbx_mlx_recipe_unary(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0);

	if (x != LBX_FAIL && lbx_mlx_dtype(n, x) == LB_C64)
		return lbx_mlx_complex_unary(n, x);
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
	int x = lbx_mlx_input(n, 0);
	if (x == LBX_FAIL)
		return LBX_FAIL;
	/* 0.21 has other kernels */
	bool rounds_twice = reciprocal && lbx_mlx_is_half(lbx_mlx_dtype(n, x)) && !n->set->layout->has_scheduled;
	n->code = reciprocal && !rounds_twice ? LB_OP_RSQRT : LB_OP_SQRT;
	int y = lbx_mlx_recipe_unary(n);
	if (!rounds_twice || y == LBX_FAIL)
		return y;
	return lbx_step_binary(n->r, LB_OP_DIVIDE, lbx_step_number(n->r, lbx_mlx_dtype(n, y), 1), y);
}

/* exp() gives halves; what follows is computed in float32, and rounded once. Until 0.29.2 it was of -x, whatever the sign. */
int lbx_mlx_recipe_sigmoid(struct lbx_mlx_node *n)
{
	enum { BY_SIGN_SINCE = 2903 };
	int x = lbx_mlx_input(n, 0), version = lbx_mlx_version(n->set);

	if (x == LBX_FAIL || !is_number(n, x))
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, x);
	bool is_half = lbx_mlx_is_half(dtype), by_sign = version >= BY_SIGN_SINCE;
	bool is_other = n->set->layout->has_scheduled && !n->is_traced; /* 0.21 has two kernels */
	if (!lb_dtype_is_float((int)dtype) || (is_half && (version == LBX_MLX_UNKNOWN || is_other)))
		return lbx_mlx_no_recipe(n, "such a dtype");
	if (!is_half)
		return lbx_step_unary(n->r, LB_OP_SIGMOID, x);
	int e = by_sign ? lbx_step_unary(n->r, LB_OP_ABS, x) : lbx_step_unary(n->r, LB_OP_NEGATIVE, x);
	e = lbx_step_cast(n->r, lbx_step_unary(n->r, LB_OP_EXP, e), LB_F32);
	int one = lbx_step_number(n->r, LB_F32, 1);
	int y = lbx_step_binary(n->r, LB_OP_DIVIDE, one, lbx_step_with(n->r, LB_OP_ADD, e, 1));
	if (by_sign)
		y = lbx_step_where(n->r, lbx_step_with(n->r, LB_OP_LESS, x, 0), y,
				   lbx_step_binary(n->r, LB_OP_SUBTRACT, one, y));
	return lbx_step_cast(n->r, y, dtype);
}

static bool operands(struct lbx_mlx_node *n, int *a, int *b)
{
	*a = lbx_mlx_input(n, 0);
	*b = lbx_mlx_input(n, 1);
	if (*a == LBX_FAIL || *b == LBX_FAIL)
		return false;
	return lbx_mlx_dtype(n, *a) == lbx_mlx_dtype(n, *b) || lbx_mlx_no_recipe(n, "such dtypes") != LBX_FAIL;
}

/* max + log1p(exp(min - max)), each step of halves being rounded; Inf is the maximum itself. */
int lbx_mlx_recipe_logaddexp(struct lbx_mlx_node *n)
{
	int a, b;

	if (!operands(n, &a, &b))
		return LBX_FAIL;
	if (!lbx_mlx_is_half(lbx_mlx_dtype(n, a)))
		return lbx_mlx_recipe_binary(n);
	if (n->set->layout->has_scheduled)
		return lbx_mlx_no_recipe(n, "halves, of such a version");
	int most = lbx_step_binary(n->r, LB_OP_MAXIMUM, a, b), least = lbx_step_binary(n->r, LB_OP_MINIMUM, a, b);
	int e = lbx_step_unary(n->r, LB_OP_EXP, lbx_step_binary(n->r, LB_OP_SUBTRACT, least, most));
	int y = lbx_step_binary(n->r, LB_OP_ADD, most, lbx_mlx_log1p(n, e));
	int edge = lbx_step_binary(n->r, LB_OP_LOGICAL_OR, lbx_step_with(n->r, LB_OP_EQUAL, least, -INFINITY),
				   lbx_step_with(n->r, LB_OP_EQUAL, most, INFINITY));
	return lbx_step_where(n->r, edge, most, y);
}

/* A remainder has the divisor's sign; of integers by 0 it is what is divided. Of halves it was another one until 0.32.2. */
int lbx_mlx_recipe_remainder(struct lbx_mlx_node *n)
{
	enum { HALVES_SINCE = 3203 };
	int a, b;

	if (!operands(n, &a, &b) || !is_number(n, a))
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, a);
	if (lbx_mlx_is_half(dtype) && lbx_mlx_version(n->set) < HALVES_SINCE)
		return lbx_mlx_no_recipe(n, "halves, of such a version");
	int y = lbx_step_binary(n->r, LB_OP_REMAINDER, a, b);
	if (lb_dtype_is_float((int)dtype))
		return y;
	return lbx_step_where(n->r, lbx_step_with(n->r, LB_OP_EQUAL, b, 0), a, y);
}

/* A quotient without its fraction, and what is left. Of 0.28 and before it is the one nearer to 0, and the rest has the sign of what is
 * divided; of 0.32.4 the one below, and the rest has the divisor's. */
int lbx_mlx_recipe_divmod(struct lbx_mlx_node *n)
{
	enum { CUT_UNTIL = 2800, BELOW_SINCE = 3204 };
	int a, b, version = lbx_mlx_version(n->set);
	bool cuts = version <= CUT_UNTIL;

	if (!operands(n, &a, &b) || !is_number(n, a))
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, a);
	if (lbx_mlx_is_half(dtype) || dtype == LB_I64 || dtype == LB_U64)
		return lbx_mlx_no_recipe(n, "such a dtype");
	if (version == LBX_MLX_UNKNOWN || (!cuts && version < BELOW_SINCE))
		return lbx_mlx_no_recipe(n, "such a version");
	enum lb_dtype wide = lb_dtype_is_float((int)dtype) ? dtype : LB_F64;
	a = lbx_step_cast(n->r, a, wide);
	b = lbx_step_cast(n->r, b, wide);
	int zero = lbx_step_number(n->r, wide, 0), y;
	if (n->record.position == 0) {
		int ratio = lbx_step_binary(n->r, LB_OP_DIVIDE, a, b);
		y = lbx_step_unary(n->r, LB_OP_FLOOR, ratio);
		if (cuts)
			y = lbx_step_where(n->r, lbx_step_binary(n->r, LB_OP_LESS, ratio, zero),
					   lbx_step_unary(n->r, LB_OP_CEIL, ratio), y);
		return lbx_step_cast(n->r, y, dtype);
	}
	if (!cuts)
		return lbx_step_cast(n->r, lbx_step_binary(n->r, LB_OP_REMAINDER, a, b), dtype);
	y = lbx_step_binary(n->r, LB_OP_REMAINDER, lbx_step_unary(n->r, LB_OP_ABS, a),
			    lbx_step_unary(n->r, LB_OP_ABS, b));
	y = lbx_step_where(n->r, lbx_step_binary(n->r, LB_OP_LESS, a, zero), lbx_step_unary(n->r, LB_OP_NEGATIVE, y),
			   y);
	return lbx_step_cast(n->r, y, dtype);
}

int lbx_mlx_recipe_binary(struct lbx_mlx_node *n)
{
	int a, b;

	if (!operands(n, &a, &b))
		return LBX_FAIL;
	if (lbx_mlx_dtype(n, a) == LB_C64)
		return lbx_mlx_complex_binary(n, a, b);
	if (!is_number(n, a))
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

int lbx_mlx_recipe_select(struct lbx_mlx_node *n)
{
	int condition = lbx_mlx_input(n, 0), x = lbx_mlx_input(n, 1), y = lbx_mlx_input(n, 2);

	if (condition == LBX_FAIL || x == LBX_FAIL || y == LBX_FAIL)
		return LBX_FAIL;
	if (lbx_mlx_dtype(n, condition) != LB_BOOL || lbx_mlx_dtype(n, x) != lbx_mlx_dtype(n, y))
		return lbx_mlx_no_recipe(n, "such dtypes");
	return lbx_step_where(n->r, condition, x, y);
}
