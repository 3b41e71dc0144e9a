/* Products of matrices, and attention. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "ggml/recipe.h"

int lbx_ggml_product(struct lbx_ggml_node *n, int a, int b)
{
	struct lbx_recipe *r = n->r;

	if (a == LBX_FAIL || b == LBX_FAIL)
		return LBX_FAIL;
	int64_t batch[2] = { lbx_ggml_ne(n, b, 3), lbx_ggml_ne(n, b, 2) },
		own[2] = { lbx_ggml_ne(n, a, 3), lbx_ggml_ne(n, a, 2) };
	int64_t rows = lbx_ggml_ne(n, b, 1), columns = lbx_ggml_ne(n, a, 1), k = lbx_ggml_ne(n, a, 0);
	int64_t shape[] = { batch[0], batch[1], rows, columns };
	for (int i = 0; i < 2; i++)
		if (own[i] == 0 || batch[i] % own[i])
			return lbx_ggml_no_recipe(n, "shapes that do not repeat");
	int across = lbx_step_permute(r, a, (int[]){ 0, 1, 3, 2 });
	if (own[0] * own[1] == 1) { /* one matrix for all */
		across = lbx_step_reshape(r, across, 2, (int64_t[]){ k, columns });
		if (batch[0] * batch[1] == 1)
			b = lbx_step_reshape(r, b, 2, (int64_t[]){ rows, lbx_ggml_ne(n, b, 0) });
		return lbx_step_reshape(r, lbx_step_matmul(r, b, across), LBX_GGML_AXES, shape);
	}
	b = lbx_step_split(r, lbx_step_split(r, b, 1, batch[1] / own[1]), 0, batch[0] / own[0]);
	across = lbx_step_reshape(r, across, 6, (int64_t[]){ own[0], 1, own[1], 1, k, columns });
	return lbx_step_reshape(r, lbx_step_matmul(r, b, across), LBX_GGML_AXES, shape);
}

int lbx_ggml_recipe_mul_mat(struct lbx_ggml_node *n)
{
	return lbx_ggml_product(n, lbx_ggml_source_float(n, 0), lbx_ggml_source_float(n, 1));
}

/* a, of rows with m elements, by b, of as many rows with p: (p, m). */
int lbx_ggml_recipe_out_prod(struct lbx_ggml_node *n)
{
	int a = lbx_step_permute(n->r, lbx_ggml_source_float(n, 0), (int[]){ 0, 1, 3, 2 });

	return lbx_ggml_product(n, a, lbx_step_permute(n->r, lbx_ggml_source_float(n, 1), (int[]){ 0, 1, 3, 2 }));
}

/* ---- experts ---- */

/* Of (tokens, used, experts, m) by all experts, those whose numbers (tokens, used) say. */
static int choose(struct lbx_ggml_node *n, int all, int ids, int64_t tokens, int64_t used)
{
	ids = lbx_step_reshape(n->r, ids, 4, (int64_t[]){ tokens, used, 1, 1 });
	return lbx_step_reshape(n->r, lbx_step_take_along(n->r, all, ids, 2), LBX_GGML_AXES, n->shape);
}

/* Once each expert was a source of its own, behind the numbers, of which one column counts, and b. */
static int experts_apart(struct lbx_ggml_node *n)
{
	enum { FIRST = 2 };
	int parts[LBX_GGML_SOURCES], count = 0, column = lbx_ggml_int(n, 0), ids = lbx_ggml_source(n, 0);
	int b = lbx_ggml_source_float(n, 1);
	int64_t tokens = lbx_ggml_ne(n, b, 1), m = n->shape[3];

	if (ids == LBX_FAIL || b == LBX_FAIL || lbx_ggml_ne(n, b, 2) * lbx_ggml_ne(n, b, 3) != 1)
		return lb_ok() ? lbx_ggml_no_recipe(n, "such axes") : LBX_FAIL;
	for (int i = FIRST; i < LBX_GGML_SOURCES && lbx_ggml_has(n, i); i++)
		parts[count++] = lbx_step_reshape(n->r, lbx_ggml_product(n, lbx_ggml_source_float(n, i), b), 4,
						  (int64_t[]){ tokens, 1, 1, m });
	if (count != lbx_ggml_int(n, 1))
		return lbx_ggml_no_recipe(n, "such experts");
	ids = lbx_step_narrow(n->r, ids, LBX_GGML_AXIS_0, column, 1, 1);
	return choose(n, lbx_step_join(n->r, count, parts, 2), ids, tokens, 1);
}

int lbx_ggml_recipe_mul_mat_id(struct lbx_ggml_node *n)
{
	if (!lbx_ggml_has(n, 2))
		return lbx_ggml_no_recipe(n, "so few sources");
	int first = lbx_ggml_source(n, 0), experts = LBX_FAIL;
	if (first != LBX_FAIL && lbx_step(n->r, first)->dtype == LB_I32)
		return experts_apart(n);
	experts = lbx_ggml_source_float(n, 0);
	int b = lbx_ggml_source_float(n, 1), ids = lbx_ggml_source(n, 2);
	int64_t tokens = n->shape[1], used = n->shape[2], m = n->shape[3], count = lbx_ggml_ne(n, experts, 2);
	int64_t each = lbx_ggml_ne(n, b, 1);
	/* (experts, tokens of each, m): every token by every expert */
	b = lbx_step_reshape(n->r, b, 3, (int64_t[]){ 1, tokens * each, lbx_ggml_ne(n, b, 0) });
	int across = lbx_step_reshape(n->r, lbx_step_permute(n->r, experts, (int[]){ 0, 1, 3, 2 }), 3,
				      (int64_t[]){ count, lbx_ggml_ne(n, experts, 0), m });
	int all = lbx_step_reshape(n->r, lbx_step_matmul(n->r, b, across), 4, (int64_t[]){ count, tokens, each, m });
	all = lbx_step_permute(n->r, all, (int[]){ 1, 2, 0, 3 });
	return choose(n, lbx_step_spread(n->r, all, 4, (int64_t[]){ tokens, used, count, m }), ids, tokens, used);
}

/* ---- attention ---- */

int lbx_ggml_softmax(struct lbx_ggml_node *n, int x, int sinks, bool empty)
{
	enum { ROW = 1 << LBX_GGML_AXIS_0 };
	struct lbx_recipe *r = n->r;

	if (sinks < 0 && !empty)
		return lbx_step_rows(r, LB_OP_SOFTMAX, x);
	int most = lbx_step_reduce(r, LB_OP_MAX, x, ROW);
	if (sinks >= 0)
		most = lbx_step_binary(r, LB_OP_MAXIMUM, most, sinks);
	int none = lbx_step_with(r, LB_OP_EQUAL, most, -INFINITY), zero = lbx_step_number(r, LB_F32, 0);
	most = lbx_step_where(r, none, zero, most);
	int e = lbx_step_unary(r, LB_OP_EXP, lbx_step_binary(r, LB_OP_SUBTRACT, x, most));
	int sum = lbx_step_reduce(r, LB_OP_SUM, e, ROW);
	if (sinks >= 0)
		sum = lbx_step_binary(r, LB_OP_ADD, sum,
				      lbx_step_unary(r, LB_OP_EXP, lbx_step_binary(r, LB_OP_SUBTRACT, sinks, most)));
	return lbx_step_where(r, none, zero, lbx_step_binary(r, LB_OP_DIVIDE, e, sum));
}

/* Each head's slope, (heads, 1, 1). */
static int slopes(struct lbx_ggml_node *n, int64_t heads, float max_bias)
{
	enum { MOST = 4096 };
	float values[MOST];

	if (heads < 1 || heads > MOST)
		return lbx_ggml_no_recipe(n, "so many heads");
	uint32_t below = 1U << (uint32_t)floor(log2((double)heads));
	float m0 = powf(2.0F, -max_bias / (float)below), m1 = powf(2.0F, -(max_bias / 2) / (float)below);
	for (uint32_t h = 0; h < (uint32_t)heads; h++)
		values[h] = h < below ? powf(m0, (float)(h + 1)) : powf(m1, (float)(2 * (h - below) + 1));
	return lbx_step_reshape(n->r, lbx_step_constant(n->r, values, heads), 3, (int64_t[]){ heads, 1, 1 });
}

int lbx_ggml_mask(struct lbx_ggml_node *n, int mask, int x, float max_bias)
{
	int64_t rows = lbx_ggml_ne(n, x, 1), heads = lbx_ggml_ne(n, x, 2);

	if (x == LBX_FAIL || mask == LBX_FAIL)
		return LBX_FAIL;
	if (lbx_ggml_ne(n, mask, 1) > rows) /* it may be padded */
		mask = lbx_step_narrow(n->r, mask, 2, 0, rows, 1);
	mask = lbx_ggml_repeat(n, mask, lbx_step(n->r, x)->shape);
	return max_bias > 0 ? lbx_step_binary(n->r, LB_OP_MULTIPLY, mask, slopes(n, heads, max_bias)) : mask;
}

/* Sinks, one a head, beside rows. */
static int read_sinks(struct lbx_ggml_node *n, int source)
{
	int sinks = lbx_ggml_source_float(n, source);

	return lbx_step_reshape(n->r, sinks, 4, (int64_t[]){ 1, lbx_ggml_ne(n, sinks, 0), 1, 1 });
}

/* Once ALiBi came from positions, the third source; now it is the mask's, and the third are sinks. */
int lbx_ggml_recipe_soft_max(struct lbx_ggml_node *n)
{
	float scale = lbx_ggml_float(n, 0), max_bias = lbx_ggml_float(n, 1);
	bool by_positions = lbx_ggml_has_op(n->anchor, "ALIBI");
	int x = lbx_step_with(n->r, LB_OP_MULTIPLY, lbx_ggml_source_float(n, 0), scale), sinks = -1;

	if (x == LBX_FAIL)
		return LBX_FAIL;
	if (lbx_ggml_has(n, 1)) {
		int mask = lbx_ggml_mask(n, lbx_ggml_source_float(n, 1), x, by_positions ? 0 : max_bias);
		x = lbx_step_binary(n->r, LB_OP_ADD, x, mask);
	}
	if (by_positions && max_bias > 0 && lbx_ggml_has(n, 2)) {
		int positions =
		    lbx_step_reshape(n->r, lbx_ggml_source_float(n, 2), 4, (int64_t[]){ 1, 1, 1, n->shape[3] });
		x = lbx_step_binary(n->r, LB_OP_ADD, x, lbx_ggml_mask(n, positions, x, max_bias));
	} else if (by_positions && max_bias > 0) {
		return lbx_ggml_no_recipe(n, "ALiBi without positions");
	} else if (lbx_ggml_has(n, 2)) {
		sinks = read_sinks(n, 2);
		if (sinks == LBX_FAIL)
			return LBX_FAIL;
	}
	return lbx_ggml_softmax(n, x, sinks, false);
}

/* q (…, heads, rows, k), k and v (…, their heads, positions, …); the result has heads behind rows. */
int lbx_ggml_recipe_flash_attn_ext(struct lbx_ggml_node *n)
{
	float scale = lbx_ggml_float(n, 0), max_bias = lbx_ggml_float(n, 1), cap = lbx_ggml_float(n, 2);
	int q = lbx_ggml_source_float(n, 0), k = lbx_ggml_source_float(n, 1), v = lbx_ggml_source_float(n, 2),
	    sinks = -1;
	int x = lbx_step_with(n->r, LB_OP_MULTIPLY, lbx_ggml_product(n, k, q), cap != 0 ? scale / cap : scale);

	if (cap != 0)
		x = lbx_step_with(n->r, LB_OP_MULTIPLY, lbx_step_unary(n->r, LB_OP_TANH, x), cap);
	if (lbx_ggml_has(n, 3)) {
		int mask = lbx_ggml_source_float(n, 3);
		x = lbx_step_binary(n->r, LB_OP_ADD, x, lbx_ggml_mask(n, mask, x, max_bias));
	}
	if (lbx_ggml_has(n, 4)) {
		sinks = read_sinks(n, 4);
		if (sinks == LBX_FAIL)
			return LBX_FAIL;
	}
	x = lbx_ggml_softmax(n, x, sinks, true);
	x = lbx_ggml_product(n, lbx_step_permute(n->r, v, (int[]){ 0, 1, 3, 2 }), x);
	return lbx_step_permute(n->r, x, (int[]){ 0, 2, 1, 3 });
}
