/* Complex numbers, as pairs of their parts: views of them, and what is computed of them, in float64 and rounded once. */
#include <math.h>

#include "base/error.h"
#include "mlx/recipe.h"

int lbx_mlx_part(const struct lbx_mlx_node *n, int x, int which)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, x);
	if (s.dtype != LB_C64 || s.rank == LB_MAX_RANK)
		return lbx_mlx_no_recipe(n, "such a dtype");
	s.shape[s.rank] = 1;
	x = lbx_mlx_as_dtype(n, lbx_step_reshape(n->r, x, s.rank + 1, s.shape), LB_F32);
	return lbx_step_narrow(n->r, x, s.rank, which, 1, 1);
}

int lbx_mlx_complex(const struct lbx_mlx_node *n, int real, int imaginary, int rank, const int64_t *shape)
{
	int parts[2] = { real, imaginary };

	return lbx_step_reshape(n->r, lbx_mlx_as_dtype(n, lbx_step_join(n->r, 2, parts, rank), LB_C64), rank, shape);
}

int lbx_mlx_recipe_real(struct lbx_mlx_node *n)
{
	return lbx_step_reshape(n->r, lbx_mlx_part(n, lbx_mlx_input(n, 0), 0), n->record.rank, n->record.sizes);
}

int lbx_mlx_recipe_imag(struct lbx_mlx_node *n)
{
	return lbx_step_reshape(n->r, lbx_mlx_part(n, lbx_mlx_input(n, 0), 1), n->record.rank, n->record.sizes);
}

int lbx_mlx_recipe_conjugate(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0), imaginary = lbx_step_unary(n->r, LB_OP_NEGATIVE, lbx_mlx_part(n, x, 1));

	return lbx_mlx_complex(n, lbx_mlx_part(n, x, 0), imaginary, n->record.rank, n->record.sizes);
}

/* ---- elementwise ---- */

/* A part in float64, without the axis of one element. */
static int wide(const struct lbx_mlx_node *n, int x, int which)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, x);
	return lbx_step_cast(n->r, lbx_step_reshape(n->r, lbx_mlx_part(n, x, which), s.rank, s.shape), LB_F64);
}

static int rounded(struct lbx_mlx_node *n, int real, int imaginary)
{
	int parts[2] = { real, imaginary };
	int64_t shape[LB_MAX_RANK];

	for (int i = 0; i < 2; i++) {
		if (parts[i] == LBX_FAIL)
			return LBX_FAIL;
		struct lbx_step s = *lbx_step(n->r, parts[i]);
		if (s.rank == LB_MAX_RANK)
			return lbx_mlx_no_recipe(n, "so many axes");
		for (int k = 0; k < s.rank; k++)
			shape[k] = s.shape[k];
		shape[s.rank] = 1;
		parts[i] = lbx_step_reshape(n->r, lbx_step_cast(n->r, parts[i], LB_F32), s.rank + 1, shape);
	}
	return lbx_mlx_complex(n, parts[0], parts[1], n->record.rank, n->record.sizes);
}

/* As many as x has. */
static int zeros(struct lbx_mlx_node *n, int x)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, x);
	return lbx_step_dense(n->r, lbx_step_spread(n->r, lbx_step_number(n->r, LB_F64, 0), s.rank, s.shape));
}

/* To complex numbers, and to the real part of them. */
int lbx_mlx_complex_cast(struct lbx_mlx_node *n, int x)
{
	if (lbx_mlx_dtype(n, x) == LB_C64)
		return lbx_step_cast(n->r, wide(n, x, 0), n->record.dtype);
	return rounded(n, lbx_step_cast(n->r, x, LB_F64), zeros(n, x));
}

int lbx_mlx_complex_unary(struct lbx_mlx_node *n, int x)
{
	int a = wide(n, x, 0), b = wide(n, x, 1);

	if (n->code == LB_OP_NEGATIVE)
		return rounded(n, lbx_step_unary(n->r, LB_OP_NEGATIVE, a), lbx_step_unary(n->r, LB_OP_NEGATIVE, b));
	if (n->code != LB_OP_ABS)
		return lbx_mlx_no_recipe(n, "such a dtype");
	int size = lbx_step_binary(n->r, LB_OP_ADD, lbx_step_unary(n->r, LB_OP_SQUARE, a),
				   lbx_step_unary(n->r, LB_OP_SQUARE, b));
	size = lbx_step_unary(n->r, LB_OP_SQRT, size);
	/* also beside a NaN */
	int endless = lbx_step_binary(n->r, LB_OP_LOGICAL_OR, lbx_step_unary(n->r, LB_OP_ISINF, a),
				      lbx_step_unary(n->r, LB_OP_ISINF, b));
	size = lbx_step_where(n->r, endless, lbx_step_with(n->r, LB_OP_ADD, zeros(n, x), INFINITY), size);
	return rounded(n, size, zeros(n, size));
}

int lbx_mlx_complex_binary(struct lbx_mlx_node *n, int x, int y)
{
	struct lbx_recipe *r = n->r;
	int a = wide(n, x, 0), b = wide(n, x, 1), c = wide(n, y, 0), d = wide(n, y, 1);

	if (n->code == LB_OP_ADD || n->code == LB_OP_SUBTRACT)
		return rounded(n, lbx_step_binary(r, n->code, a, c), lbx_step_binary(r, n->code, b, d));
	if (n->code != LB_OP_MULTIPLY)
		return lbx_mlx_no_recipe(n, "such a dtype");
	int real = lbx_step_binary(r, LB_OP_SUBTRACT, lbx_step_binary(r, LB_OP_MULTIPLY, a, c),
				   lbx_step_binary(r, LB_OP_MULTIPLY, b, d)),
	    imaginary = lbx_step_binary(r, LB_OP_ADD, lbx_step_binary(r, LB_OP_MULTIPLY, a, d),
					lbx_step_binary(r, LB_OP_MULTIPLY, b, c));
	return rounded(n, real, imaginary);
}
