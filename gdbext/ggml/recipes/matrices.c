/* Matrices as a whole: parts of them, equations, and what comes of counting. */
#include "base/error.h"
#include "ggml/recipe.h"

enum { SIZE_MOST = 1 << 14, ALL = 15 };

/* 0, 1, … along an axis of a value of four axes. */
static int along(struct lbx_ggml_node *n, int axis, int64_t size)
{
	int64_t shape[] = { 1, 1, 1, 1 };

	shape[axis] = size;
	return lbx_step_reshape(n->r, lbx_step_arange(n->r, size), LBX_GGML_AXES, shape);
}

/* x where columns are so to rows, else 0. */
static int where_columns(struct lbx_ggml_node *n, int op, int x)
{
	int is = lbx_step_binary(n->r, op, along(n, 3, n->shape[3]), along(n, 2, n->shape[2]));

	return lbx_step_where(n->r, is, x, lbx_step_number(n->r, LB_F32, 0));
}

/* Rows upon the diagonal. */
int lbx_ggml_recipe_diag(struct lbx_ggml_node *n)
{
	return where_columns(n, LB_OP_EQUAL, lbx_ggml_source_float(n, 0));
}

int lbx_ggml_recipe_tri(struct lbx_ggml_node *n)
{
	/* upper with the diagonal and without, lower likewise */
	static const int ops[] = { LB_OP_GREATER_EQUAL, LB_OP_GREATER, LB_OP_LESS_EQUAL, LB_OP_LESS };
	int32_t kind = lbx_ggml_int(n, 0);

	if (kind < 0 || kind >= (int32_t)(sizeof ops / sizeof *ops))
		return lbx_ggml_no_recipe(n, "such a kind");
	return where_columns(n, ops[kind], lbx_ggml_source_float(n, 0));
}

int lbx_ggml_recipe_count_equal(struct lbx_ggml_node *n)
{
	int same = lbx_step_binary(n->r, LB_OP_EQUAL, lbx_ggml_source(n, 0), lbx_ggml_source(n, 1));

	return lbx_step_reduce(n->r, LB_OP_SUM, lbx_step_cast(n->r, same, LB_I64), ALL);
}

/* Parameters: elements in front and behind, which are those within, seen in a mirror. */
int lbx_ggml_recipe_pad_reflect(struct lbx_ggml_node *n)
{
	float from[SIZE_MOST];
	int32_t front = lbx_ggml_int(n, 0), behind = lbx_ggml_int(n, 1);
	int x = lbx_ggml_source_float(n, 0);
	int64_t own = lbx_ggml_ne(n, x, 0), size = n->shape[LBX_GGML_AXIS_0];

	if (x == LBX_FAIL)
		return LBX_FAIL;
	if (front < 0 || behind < 0 || front >= own || behind >= own || size != own + front + behind ||
	    size > SIZE_MOST)
		return lbx_ggml_no_recipe(n, "such sizes");
	for (int64_t i = 0; i < size; i++) {
		int64_t at = i < front ? front - i : i - front;
		from[i] = (float)(at < own ? at : 2 * (own - 1) - at);
	}
	return lbx_step_take(n->r, x, lbx_step_cast(n->r, lbx_step_constant(n->r, from, size), LB_I32),
			     LBX_GGML_AXIS_0);
}

/* Rows of positions, w by w: with the second of each row, and the first of each column. */
int lbx_ggml_recipe_add_rel_pos(struct lbx_ggml_node *n)
{
	int x = lbx_ggml_source_float(n, 0), across = lbx_ggml_source_float(n, 1), down = lbx_ggml_source_float(n, 2);
	int64_t w = lbx_ggml_ne(n, across, 0), size = n->shape[0] * n->shape[1] * n->shape[2] * n->shape[3];

	if (across == LBX_FAIL || w < 1 || size % (w * w))
		return across == LBX_FAIL ? LBX_FAIL : lbx_ggml_no_recipe(n, "such sizes");
	x = lbx_step_reshape(n->r, x, 3, (int64_t[]){ size / w / w, w, w });
	across = lbx_step_reshape(n->r, across, 3, (int64_t[]){ size / w / w, 1, w });
	down = lbx_step_reshape(n->r, down, 3, (int64_t[]){ size / w / w, w, 1 });
	x = lbx_step_binary(n->r, LB_OP_ADD, lbx_step_binary(n->r, LB_OP_ADD, x, down), across);
	return lbx_step_reshape(n->r, x, LBX_GGML_AXES, n->shape);
}

/* The x of A x = B, A being lower triangular: row after row, each by those before it. */
int lbx_ggml_recipe_solve_tri(struct lbx_ggml_node *n)
{
	enum { MOST = 256, ROW = 2 };
	int rows[MOST], a = lbx_ggml_source_float(n, 0), b = lbx_ggml_source_float(n, 1);
	int64_t size = n->shape[ROW];

	if (a == LBX_FAIL || b == LBX_FAIL)
		return LBX_FAIL;
	if (size < 1 || size > MOST || lbx_ggml_ne(n, a, 0) != size || lbx_ggml_ne(n, a, 1) != size)
		return lbx_ggml_no_recipe(n, "such sizes");
	for (int i = 0; i < size; i++) {
		int row = lbx_step_narrow(n->r, a, ROW, i, 1, 1), x = lbx_step_narrow(n->r, b, ROW, i, 1, 1);
		if (i > 0) {
			int before = lbx_step_matmul(n->r, lbx_step_narrow(n->r, row, 3, 0, i, 1),
						     lbx_step_join(n->r, i, rows, ROW));
			x = lbx_step_binary(n->r, LB_OP_SUBTRACT, x, before);
		}
		rows[i] = lbx_step_binary(n->r, LB_OP_DIVIDE, x, lbx_step_narrow(n->r, row, 3, i, 1, 1));
		if (rows[i] == LBX_FAIL)
			return LBX_FAIL;
	}
	return lbx_step_join(n->r, (int)size, rows, ROW);
}
