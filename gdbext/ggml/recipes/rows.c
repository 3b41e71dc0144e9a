/* Along rows: sums, norms, orders. */
#include <string.h>

#include "base/error.h"
#include "ggml/recipe.h"

enum { ROW = 1 << LBX_GGML_AXIS_0, ALL = 15 };

int lbx_ggml_recipe_sum(struct lbx_ggml_node *n)
{
	const char *op = n->tensor->op;

	return lbx_step_reduce(n->r, strcmp(op, "MEAN") == 0 ? LB_OP_MEAN : LB_OP_SUM, lbx_ggml_source_float(n, 0),
			       strcmp(op, "SUM") == 0 ? ALL : ROW);
}

int lbx_ggml_recipe_cumsum(struct lbx_ggml_node *n)
{
	return lbx_step_rows(n->r, LB_OP_CUMSUM, lbx_ggml_source_float(n, 0));
}

int lbx_ggml_recipe_argmax(struct lbx_ggml_node *n)
{
	return lbx_step_reshape(n->r, lbx_step_rows(n->r, LB_OP_ARGMAX, lbx_ggml_source_float(n, 0)), LBX_GGML_AXES,
				n->shape);
}

static int order(struct lbx_ggml_node *n, bool falling)
{
	int x = lbx_ggml_source_float(n, 0);

	return lbx_step_rows(n->r, LB_OP_ARGSORT, falling ? lbx_step_unary(n->r, LB_OP_NEGATIVE, x) : x);
}

int lbx_ggml_recipe_argsort(struct lbx_ggml_node *n)
{
	return order(n, lbx_ggml_int(n, 0) == 1);
}

/* ggml puts the second in front of the first, to show that their order is not meant. */
int lbx_ggml_recipe_top_k(struct lbx_ggml_node *n)
{
	int64_t k = n->shape[LBX_GGML_AXIS_0];
	int x = order(n, true), axis = LBX_GGML_AXIS_0;

	if (k < 2)
		return lbx_step_narrow(n->r, x, axis, 0, k, 1);
	int parts[] = { lbx_step_narrow(n->r, x, axis, 1, 1, 1), lbx_step_narrow(n->r, x, axis, 0, 1, 1),
			lbx_step_narrow(n->r, x, axis, 2, k - 2, 1) };
	return lbx_step_join(n->r, k == 2 ? 2 : 3, parts, axis);
}

/* ---- norms ---- */

int lbx_ggml_recipe_norm(struct lbx_ggml_node *n)
{
	return lbx_step_norm(n->r, strcmp(n->tensor->op, "NORM") == 0 ? LB_OP_LAYER_NORM : LB_OP_RMS_NORM,
			     lbx_ggml_source_float(n, 0), lbx_ggml_float(n, 0));
}

int lbx_ggml_recipe_l2_norm(struct lbx_ggml_node *n)
{
	int x = lbx_ggml_source_float(n, 0);
	int sum = lbx_step_reduce(n->r, LB_OP_SUM, lbx_step_unary(n->r, LB_OP_SQUARE, x), ROW);
	int length = lbx_step_unary(n->r, LB_OP_SQRT, sum);

	return lbx_step_binary(n->r, LB_OP_DIVIDE, x, lbx_step_with(n->r, LB_OP_MAXIMUM, length, lbx_ggml_float(n, 0)));
}

/* Groups along axis 2; the last may be smaller. */
int lbx_ggml_recipe_group_norm(struct lbx_ggml_node *n)
{
	enum { MOST = 1024 };
	int parts[MOST], groups = lbx_ggml_int(n, 0), count = 0, x = lbx_ggml_source_float(n, 0);
	float eps = lbx_ggml_float(n, 1);
	int64_t channels = n->shape[1];

	if (groups < 1 || groups > MOST)
		return lbx_ggml_no_recipe(n, "such groups");
	if (lbx_ggml_has_op(n->anchor, "ALIBI") && eps == 0) /* which it was before it was a parameter */
		eps = 1e-6F;
	int64_t per = (channels + groups - 1) / groups;
	for (int64_t first = 0; first < channels; first += per) {
		int64_t some = channels - first < per ? channels - first : per;
		int64_t shape[] = { n->shape[0], some, n->shape[2], n->shape[3] };
		int64_t size = shape[1] * shape[2] * shape[3];
		int part = lbx_step_reshape(n->r, lbx_step_narrow(n->r, x, 1, first, some, 1), 2,
					    (int64_t[]){ n->shape[0], size });
		parts[count++] =
		    lbx_step_reshape(n->r, lbx_step_norm(n->r, LB_OP_LAYER_NORM, part, eps), LBX_GGML_AXES, shape);
	}
	return lbx_step_join(n->r, count, parts, 1);
}
