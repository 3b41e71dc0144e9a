/* Functions that our runtime has not: made of others in float64, and rounded once. */
#include "base/error.h"
#include "mlx/recipe.h"

/* The input as float64; its own dtype must be coarser. */
static int as_double(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0);

	if (x == LBX_FAIL)
		return LBX_FAIL;
	if (lbx_mlx_dtype(n, x) != LB_F32 && !lbx_mlx_is_half(lbx_mlx_dtype(n, x)))
		return lbx_mlx_no_recipe(n, "such a dtype");
	return lbx_step_cast(n->r, x, LB_F64);
}

/* `near` where x is so small that `far` would be of few digits. */
static int where_small(struct lbx_mlx_node *n, int x, int near, int far)
{
	int small = lbx_step_with(n->r, LB_OP_LESS, lbx_step_unary(n->r, LB_OP_ABS, x), 1e-5);

	return lbx_step_cast(n->r, lbx_step_where(n->r, small, near, far), n->record.dtype);
}

/* x (1 + x a (1 + x b)) */
static int series(struct lbx_mlx_node *n, int x, double a, double b)
{
	int inner = lbx_step_with(n->r, LB_OP_ADD, lbx_step_with(n->r, LB_OP_MULTIPLY, x, b), 1);
	int y = lbx_step_with(n->r, LB_OP_MULTIPLY, lbx_step_binary(n->r, LB_OP_MULTIPLY, x, inner), a);

	return lbx_step_binary(n->r, LB_OP_MULTIPLY, x, lbx_step_with(n->r, LB_OP_ADD, y, 1));
}

int lbx_mlx_recipe_expm1(struct lbx_mlx_node *n)
{
	int x = as_double(n);
	int far = lbx_step_with(n->r, LB_OP_SUBTRACT, lbx_step_unary(n->r, LB_OP_EXP, x), 1);

	return where_small(n, x, series(n, x, 1.0 / 2, 1.0 / 3), far);
}

/* log(1 + x) */
int lbx_mlx_log1p(struct lbx_mlx_node *n, int x)
{
	x = x == LBX_FAIL ? x : lbx_step_cast(n->r, x, LB_F64);
	int far = lbx_step_unary(n->r, LB_OP_LOG, lbx_step_with(n->r, LB_OP_ADD, x, 1));

	return where_small(n, x, series(n, x, -1.0 / 2, -2.0 / 3), far);
}

int lbx_mlx_recipe_log1p(struct lbx_mlx_node *n)
{
	return lbx_mlx_log1p(n, as_double(n));
}

/* exp(x) and exp(-x), added or subtracted, by 2 */
static int hyperbolic(struct lbx_mlx_node *n, int x, int op)
{
	int up = lbx_step_unary(n->r, LB_OP_EXP, x);
	int down = lbx_step_unary(n->r, LB_OP_EXP, lbx_step_unary(n->r, LB_OP_NEGATIVE, x));

	return lbx_step_with(n->r, LB_OP_MULTIPLY, lbx_step_binary(n->r, op, up, down), 0.5);
}

int lbx_mlx_recipe_sinh(struct lbx_mlx_node *n)
{
	int x = as_double(n);

	return where_small(n, x, x, hyperbolic(n, x, LB_OP_SUBTRACT));
}

int lbx_mlx_recipe_cosh(struct lbx_mlx_node *n)
{
	return lbx_step_cast(n->r, hyperbolic(n, as_double(n), LB_OP_ADD), n->record.dtype);
}

int lbx_mlx_recipe_tan(struct lbx_mlx_node *n)
{
	int x = as_double(n);
	int y =
	    lbx_step_binary(n->r, LB_OP_DIVIDE, lbx_step_unary(n->r, LB_OP_SIN, x), lbx_step_unary(n->r, LB_OP_COS, x));

	return lbx_step_cast(n->r, y, n->record.dtype);
}

static int polynomial(struct lbx_mlx_node *n, int t, int count, const double *factors)
{
	int p = lbx_step_number(n->r, LB_F64, factors[0]);

	for (int i = 1; i < count; i++)
		p = lbx_step_with(n->r, LB_OP_ADD, lbx_step_binary(n->r, LB_OP_MULTIPLY, p, t), factors[i]);
	return p;
}

/* By the polynomials of the simd functions of the CPU backend of MLX. */
int lbx_mlx_recipe_erfinv(struct lbx_mlx_node *n)
{
	static const double outer[] = { 3.03697567e-10, 2.93243101e-8, 1.22150334e-6,  2.84108955e-5, 3.93552968e-4,
					3.02698812e-3,  4.83185798e-3, -2.64646143e-1, 8.40016484e-1 };
	static const double inner[] = { 5.43877832e-9,  1.43285448e-7, 1.22774793e-6, 1.12963626e-7,  -5.61530760e-5,
					-1.47697632e-4, 2.31468678e-3, 1.15392581e-2, -2.32015476e-1, 8.86226892e-1 };
	int x = as_double(n);
	int t = lbx_step_unary(n->r, LB_OP_SQUARE, x);

	t = lbx_step_with(n->r, LB_OP_ADD, lbx_step_unary(n->r, LB_OP_NEGATIVE, t), 1);
	t = lbx_step_unary(n->r, LB_OP_LOG, t);
	int is_outer = lbx_step_with(n->r, LB_OP_GREATER, lbx_step_unary(n->r, LB_OP_ABS, t), 6.125);
	int p = lbx_step_where(n->r, is_outer, polynomial(n, t, sizeof outer / sizeof *outer, outer),
			       polynomial(n, t, sizeof inner / sizeof *inner, inner));
	return lbx_step_cast(n->r, lbx_step_binary(n->r, LB_OP_MULTIPLY, x, p), n->record.dtype);
}

/* -1, 0 or 1; of NaN 0. */
int lbx_mlx_recipe_sign(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0);

	if (x == LBX_FAIL)
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, x);
	if (dtype == LB_C64 || dtype == LB_BOOL)
		return lbx_mlx_no_recipe(n, "such a dtype");
	int zero = lbx_step_number(n->r, dtype, 0), one = lbx_step_number(n->r, dtype, 1);
	int y = lbx_step_where(n->r, lbx_step_binary(n->r, LB_OP_GREATER, x, zero), one, zero);
	if (lb_dtype_is_float((int)dtype) || lb_dtype_is_signed_int((int)dtype))
		y = lbx_step_where(n->r, lbx_step_binary(n->r, LB_OP_LESS, x, zero), lbx_step_number(n->r, dtype, -1),
				   y);
	return y;
}
