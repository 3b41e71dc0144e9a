#include "kernels/model.h"
#include "base/plural.h"
#include "kernels/row.h"
#include "kernels/share.h"

enum { GRAIN = 1 << 14 };

struct norm {
	const struct lb_tiles *tiles;
	const struct lb_view *x;
	const void *weight, *bias;
	double eps;
	bool center;
	char *to;
};

static void norm_row(void *arg, void *scratch, int64_t row)
{
	const struct norm *norm = arg;
	const struct lb_view *x = norm->x;
	int last = x->rank - 1, stage = lb_stage_of(x->dtype);
	int64_t n = x->shape[last], bytes = lb_width_of(x->dtype), index[LB_MAX_RANK];
	lb_index_of(last, x->shape, row, index);
	const char *from = (const char *)x->data + lb_offset_of(last, index, x->strides) * bytes;
	char *to = norm->to + row * n * bytes;
	void *result = stage == (int)x->dtype ? to : scratch;
	const void *values = lb_row_in(norm->tiles, x->dtype, from, n, x->strides[last], result);
	norm->tiles->norm(n, result, values, norm->weight, norm->bias, norm->eps, norm->center, stage);
	lb_row_out(norm->tiles, x->dtype, to, result, n);
}

/* A vector in the stage's dtype, copied if it must be. */
static bool widen(struct lb_exec *exec, const struct lb_view *vector, const void **ret)
{
	*ret = NULL;
	if (!vector)
		return true;
	void *to = exec->scratch(exec, vector->shape[0] * lb_width_of(lb_stage_of(vector->dtype)));
	if (!to)
		return false;
	*ret = lb_row_in(lb_tiles(), vector->dtype, vector->data, vector->shape[0], vector->strides[0], to);
	return true;
}

static bool is_defined(const struct lb_norm *n)
{
	if (n->x->rank >= 1 && lb_dtype_is_float(n->x->dtype))
		return true;
	return lb_fail("%s: not defined for %s of %d %s", n->op, lb_dtypes[n->x->dtype].name, n->x->rank,
		       LB_PLURAL(n->x->rank, "axis", "axes"));
}

bool lb_kernel_norm(struct lb_exec *exec, const struct lb_norm *given, void *to)
{
	const struct lb_view *x = given->x;
	if (!is_defined(given))
		return false;
	struct norm norm = { .tiles = lb_tiles(), .x = x, .eps = given->eps, .center = given->center, .to = to };
	int64_t size = lb_shape_size(x->rank, x->shape), n = x->shape[x->rank - 1];
	if (size == 0)
		return true;
	if (!widen(exec, given->weight, &norm.weight) || !widen(exec, given->bias, &norm.bias))
		return false;
	return lb_share(exec, size / n, GRAIN / n + 1, lb_bytes_of(n, 1, lb_width_of(lb_stage_of(x->dtype))), norm_row,
			&norm);
}

/* ---- gradients ---- */

enum { PIECES = 64, PIECE_ROWS = 32 };

struct gradient {
	struct norm norm; /* `to`: of x; bias is not used */
	const struct lb_view *grad;
	bool of_weight;
	int64_t rows, pieces;
	double *sums; /* of each piece */
};

/* A row of x or grad in the stage's dtype. */
static const void *row_of(const struct gradient *g, const struct lb_view *x, int64_t row, void *to)
{
	int last = x->rank - 1;
	int64_t index[LB_MAX_RANK];
	lb_index_of(last, x->shape, row, index);
	const char *from = (const char *)x->data + lb_offset_of(last, index, x->strides) * lb_width_of(x->dtype);
	return lb_row_in(g->norm.tiles, x->dtype, from, x->shape[last], x->strides[last], to);
}

static void grad_row(void *arg, void *scratch, int64_t row)
{
	const struct gradient *g = arg;
	const struct lb_view *x = g->norm.x;
	int stage = lb_stage_of(x->dtype);
	int64_t n = x->shape[x->rank - 1];
	char *h = scratch, *room = h + n * lb_width_of(stage);
	char *to = g->norm.to + row * n * lb_width_of(x->dtype);
	double scale = g->norm.tiles->norm(n, h, row_of(g, x, row, h), NULL, NULL, g->norm.eps, g->norm.center, stage);
	const void *grad = row_of(g, g->grad, row, room);
	void *result = stage == (int)x->dtype ? to : h;
	g->norm.tiles->norm_grad(n, result, h, grad, g->norm.weight, scale, g->norm.center, stage);
	lb_row_out(g->norm.tiles, x->dtype, to, result, n);
}

/* Sums over a piece of the rows, of which the sizes alone say how many there are. */
static void grad_piece(void *arg, void *scratch, int64_t piece)
{
	const struct gradient *g = arg;
	const struct lb_view *x = g->norm.x;
	int stage = lb_stage_of(x->dtype);
	int64_t n = x->shape[x->rank - 1], each = g->rows / g->pieces, rest = g->rows % g->pieces;
	int64_t row = piece * each + (piece < rest ? piece : rest), end = row + each + (piece < rest);
	char *h = scratch, *room = h + n * lb_width_of(stage);
	double *sums = g->sums + piece * n;
	memset(sums, 0, (size_t)n * sizeof *sums);
	for (; row < end; row++) {
		const void *grad = row_of(g, g->grad, row, room);
		if (g->of_weight)
			g->norm.tiles->norm(n, h, row_of(g, x, row, h), NULL, NULL, g->norm.eps, g->norm.center, stage);
		g->norm.tiles->add_products(n, sums, grad, g->of_weight ? h : NULL, stage);
	}
}

bool lb_kernel_norm_grad(struct lb_exec *exec, const struct lb_norm *given, enum lb_norm_part part,
			 const struct lb_view *grad, void *to)
{
	const struct lb_view *x = given->x;
	if (!is_defined(given))
		return false;
	struct gradient g = {
		.norm = { .tiles = lb_tiles(), .x = x, .eps = given->eps, .center = given->center, .to = to },
		.grad = grad,
		.of_weight = part == LB_NORM_WEIGHT
	};
	int64_t n = x->shape[x->rank - 1], stage = lb_stage_of(x->dtype);
	g.rows = lb_shape_size(x->rank - 1, x->shape);
	if (n == 0 || (g.rows == 0 && part == LB_NORM_X))
		return true;
	int64_t room = lb_bytes_of(2, n, lb_width_of((int)stage));
	if (part == LB_NORM_X)
		return widen(exec, given->weight, &g.norm.weight) &&
		       lb_share(exec, g.rows, GRAIN / n + 1, room, grad_row, &g);
	g.pieces = g.rows / PIECE_ROWS < 1 ? 1 : g.rows / PIECE_ROWS > PIECES ? PIECES : g.rows / PIECE_ROWS;
	g.sums = exec->scratch(exec, lb_bytes_of(g.pieces, n, sizeof *g.sums));
	if (!g.sums || !lb_share(exec, g.pieces, GRAIN / (g.rows / g.pieces * n + 1) + 1, room, grad_piece, &g))
		return false;
	for (int64_t i = 1; i < g.pieces; i++)
		g.norm.tiles->add_products(n, g.sums, g.sums + i * n, NULL, LB_F64);
	g.norm.tiles->convert(x->dtype, LB_F64)(n, to, g.sums, NULL, NULL);
	return true;
}
