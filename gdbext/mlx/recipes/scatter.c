/* Values at several indices at once: what gradients of rows that were chosen are added up by. */
#include "base/error.h"
#include "mlx/recipe.h"

enum { MAX, MIN, SUM, PROD, NONE, ARANGE_MAX = 1 << 24 /* float32 counts so far */ };

/* Values are of the indices' axes, and behind them a block of those of `to`. */
struct scatter {
	int n_before; /* axes of indices */
	struct lbx_step to, values;
	int n_axes; /* of `to`, which have indices */
	int64_t axes[LB_MAX_RANK];
};

static bool take(const struct lbx_mlx_node *n, struct scatter *s, int32_t *kind)
{
	int x = lbx_mlx_input(n, 0), indices = lbx_mlx_input(n, 1),
	    values = n->n_inputs > 2 ? lbx_mlx_input(n, n->n_inputs - 1) : LBX_FAIL;

	if (x == LBX_FAIL || indices == LBX_FAIL || !lbx_mlx_int(n, LBX_MLX_OWN, kind) ||
	    !lbx_mlx_ints(n, LBX_MLX_OWN_WORDS, &s->n_axes, s->axes))
		return false;
	if (s->n_axes < 1 || n->n_inputs != (uint32_t)s->n_axes + 2)
		return lbx_mlx_no_recipe(n, "so many inputs") != LBX_FAIL;
	if (values == LBX_FAIL)
		return false;
	s->to = *lbx_step(n->r, x);
	s->values = *lbx_step(n->r, values);
	s->n_before = lbx_step(n->r, indices)->rank;
	bool ok = s->values.rank == s->n_before + s->to.rank;
	for (int i = 0; ok && i < s->values.rank; i++)
		ok = s->values.shape[i] >= 1 && s->values.shape[i] < ARANGE_MAX;
	for (int i = 0; ok && i < s->to.rank; i++)
		ok = s->values.shape[s->n_before + i] <= s->to.shape[i];
	return ok || lbx_mlx_no_recipe(n, "such shapes") != LBX_FAIL;
}

/* Along an axis of `to`: which element of the block it is, and where the block begins; as values lie. */
static int along(struct lbx_mlx_node *n, const struct scatter *s, int axis)
{
	int64_t shape[LB_MAX_RANK], size = s->values.shape[s->n_before + axis];

	for (int i = 0; i < s->values.rank; i++)
		shape[i] = i == s->n_before + axis ? size : 1;
	int at = lbx_step_cast(n->r, lbx_step_arange(n->r, size), LB_I64);
	at = lbx_step_reshape(n->r, at, s->values.rank, shape);
	for (int k = 0; k < s->n_axes; k++) {
		if (s->axes[k] != axis)
			continue;
		int first = lbx_mlx_input(n, (uint32_t)k + 1);
		if (first == LBX_FAIL)
			return LBX_FAIL;
		struct lbx_step by = *lbx_step(n->r, first);
		if (by.rank != s->n_before)
			return lbx_mlx_no_recipe(n, "such indices");
		for (int i = 0; i < s->values.rank; i++)
			shape[i] = i < by.rank ? by.shape[i] : 1;
		first =
		    lbx_mlx_from_beginning(n, lbx_step_reshape(n->r, first, s->values.rank, shape), s->to.shape[axis]);
		at = lbx_step_binary(n->r, LB_OP_ADD, at, first);
	}
	return at;
}

/* In one row, by the places of elements in row-major order. */
int lbx_mlx_recipe_scatter(struct lbx_mlx_node *n)
{
	static const int ways[] = { LB_PUT_MAX, LB_PUT_MIN, LB_PUT_ADD, LB_PUT_MULTIPLY, LB_PUT_ASSIGN };
	int64_t params[LB_PARAMS] = { 0 }, behind = 1, count = 1;
	struct scatter s = { .n_axes = 0 };
	uint32_t chosen = 0;
	int32_t kind;

	if (!take(n, &s, &kind))
		return LBX_FAIL;
	if (kind < MAX || kind > NONE || s.values.dtype != s.to.dtype || s.to.dtype == LB_C64 ||
	    s.to.dtype == LB_BOOL || (kind == SUM && lbx_mlx_is_half(s.to.dtype)))
		return lbx_mlx_no_recipe(n, "such a kind or dtype");
	for (int i = 0; i < s.n_axes; i++) {
		if (s.axes[i] < 0 || s.axes[i] >= s.to.rank || chosen >> s.axes[i] & 1)
			return lbx_mlx_no_recipe(n, "such axes");
		chosen |= 1u << s.axes[i];
	}
	int at = lbx_step_number(n->r, LB_I64, 0);
	for (int i = s.to.rank; i-- > 0;) {
		int part = lbx_step_with(n->r, LB_OP_MULTIPLY, along(n, &s, i), (double)behind);
		at = lbx_step_binary(n->r, LB_OP_ADD, at, part);
		if (!lb_mul(behind, s.to.shape[i], &behind))
			return lbx_mlx_no_recipe(n, "such shapes");
	}
	for (int i = 0; i < s.values.rank; i++)
		if (!lb_mul(count, s.values.shape[i], &count))
			return lbx_mlx_no_recipe(n, "such shapes");
	at = lbx_step_dense(n->r, lbx_step_spread(n->r, at, s.values.rank, s.values.shape));
	int put[] = { lbx_step_reshape(n->r, lbx_mlx_input(n, 0), 1, &behind), lbx_step_reshape(n->r, at, 1, &count),
		      lbx_step_reshape(n->r, lbx_mlx_input(n, n->n_inputs - 1), 1, &count) };
	params[1] = ways[kind];
	return lbx_step_reshape(n->r, lbx_step_over(n->r, LB_OP_PUT_ALONG, s.to.dtype, 1, &behind, 3, put, params),
				s.to.rank, s.to.shape);
}
