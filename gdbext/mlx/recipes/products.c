/* Products of matrices. MLX adds up those of halves in float32. */
#include "mlx/recipe.h"

static int product(struct lbx_mlx_node *n)
{
	int a = lbx_mlx_input(n, 0), b = lbx_mlx_input(n, 1);

	if (a == LBX_FAIL || b == LBX_FAIL)
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, a);
	if (!lb_dtype_is_float((int)dtype) || lbx_mlx_dtype(n, b) != dtype)
		return lbx_mlx_no_recipe(n, "such dtypes");
	if (lbx_mlx_is_half(dtype)) {
		a = lbx_step_cast(n->r, a, LB_F32);
		b = lbx_step_cast(n->r, b, LB_F32);
	}
	return lbx_step_matmul(n->r, a, b);
}

int lbx_mlx_recipe_matmul(struct lbx_mlx_node *n)
{
	return lbx_step_cast(n->r, product(n), n->record.dtype);
}

/* alpha * a @ b + beta * c */
int lbx_mlx_recipe_addmm(struct lbx_mlx_node *n)
{
	int x = product(n), c = lbx_mlx_input(n, 2);
	float alpha, beta;

	if (x == LBX_FAIL || c == LBX_FAIL || !lbx_mlx_float(n, LBX_MLX_OWN, &alpha) ||
	    !lbx_mlx_float(n, LBX_MLX_OWN + 4, &beta))
		return LBX_FAIL;
	c = lbx_step_cast(n->r, c, lbx_step(n->r, x)->dtype);
	x = alpha == 1 ? x : lbx_step_with(n->r, LB_OP_MULTIPLY, x, alpha);
	c = beta == 1 ? c : lbx_step_with(n->r, LB_OP_MULTIPLY, c, beta);
	return lbx_step_cast(n->r, lbx_step_binary(n->r, LB_OP_ADD, x, c), n->record.dtype);
}
