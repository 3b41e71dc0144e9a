/* Elements in place of others, and elements at several indices at once. */
#include "base/error.h"
#include "mlx/recipe.h"
#include "mlx/version.h"

/* How values meet what is there; MLX before 0.31 only puts them in place, and has no such field. */
enum { SLICE_NONE = 4, SLICE_KINDS_SINCE = 3100 };
static const int codes[] = { LB_OP_MAXIMUM, LB_OP_MINIMUM, LB_OP_ADD, LB_OP_MULTIPLY };

static bool has_kind(const struct lbx_mlx_node *n)
{
	int version = lbx_mlx_version(n->set);

	return version == LBX_MLX_UNKNOWN ? n->set->layout->is_offset : version >= SLICE_KINDS_SINCE;
}

int lbx_mlx_recipe_slice_update(struct lbx_mlx_node *n)
{
	uint32_t width = lbx_mlx_shape_bytes(n);
	int x = lbx_mlx_input(n, 0), update = lbx_mlx_input(n, 1), n_begin, n_step;
	int64_t begin[LB_MAX_RANK], step[LB_MAX_RANK];
	int32_t kind = SLICE_NONE;

	if (x == LBX_FAIL || update == LBX_FAIL || !lbx_mlx_shape(n, LBX_MLX_OWN_WORDS, &n_begin, begin) ||
	    !lbx_mlx_shape(n, LBX_MLX_OWN_WORDS + 2 * width, &n_step, step) ||
	    (has_kind(n) && !lbx_mlx_int(n, LBX_MLX_OWN, &kind)))
		return LBX_FAIL;
	int rank = lbx_step(n->r, x)->rank;
	if (n_begin != rank || n_step != rank || lbx_step(n->r, update)->rank != rank)
		return lbx_mlx_no_recipe(n, "such axes");
	if (kind != SLICE_NONE) {
		struct lbx_step by = *lbx_step(n->r, update);
		int there = lbx_mlx_sliced(n, x, begin, step, by.shape);
		if (kind < 0 || kind > SLICE_NONE || by.dtype != n->record.dtype || by.dtype == LB_C64 ||
		    by.dtype == LB_BOOL)
			return lbx_mlx_no_recipe(n, "such a kind or dtype");
		update = lbx_step_binary(n->r, codes[kind], there, update);
	}
	return lbx_step_put_slice(n->r, x, update, begin, step);
}

int lbx_mlx_recipe_scatter_axis(struct lbx_mlx_node *n)
{
	enum { SUM, NONE };
	int values[3], axis;
	int64_t params[LB_PARAMS] = { 0 };
	int32_t kind;

	for (uint32_t i = 0; i < 3; i++) {
		values[i] = lbx_mlx_input(n, i);
		if (values[i] == LBX_FAIL)
			return LBX_FAIL;
	}
	if (!lbx_mlx_int(n, LBX_MLX_OWN, &kind) || !lbx_mlx_axis(n, LBX_MLX_OWN + 4, values[0], &axis))
		return LBX_FAIL;
	if ((kind != SUM && kind != NONE) || lbx_mlx_dtype(n, values[2]) != n->record.dtype ||
	    (kind == SUM && lbx_mlx_is_half(n->record.dtype)))
		return lbx_mlx_no_recipe(n, "such a kind or dtype");
	params[0] = axis;
	params[1] = kind == SUM ? LB_PUT_ADD : LB_PUT_ASSIGN;
	return lbx_step_over(n->r, LB_OP_PUT_ALONG, n->record.dtype, n->record.rank, n->record.sizes, 3, values,
			     params);
}

int lbx_mlx_from_beginning(struct lbx_mlx_node *n, int indices, int64_t size)
{
	if (indices == LBX_FAIL)
		return LBX_FAIL;
	indices = lbx_step_cast(n->r, indices, LB_I64);
	int negative = lbx_step_with(n->r, LB_OP_LESS, indices, 0);
	return lbx_step_where(n->r, negative, lbx_step_with(n->r, LB_OP_ADD, indices, (double)size), indices);
}

/* Of several axes the indices, of the others the first `sizes` elements: the axes with indices come first, as one. */
int lbx_mlx_recipe_gather_several(struct lbx_mlx_node *n, int n_axes, const int64_t *axes, const int64_t *sizes)
{
	int x = lbx_mlx_input(n, 0), order[LB_MAX_RANK], k = 0, at = LBX_FAIL;
	uint32_t chosen = 0;
	int64_t shape[LB_MAX_RANK] = { 1 };

	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step from = *lbx_step(n->r, x);
	for (int i = 0; i < n_axes; i++) {
		int indices = lbx_mlx_input(n, (uint32_t)i + 1);
		if (indices == LBX_FAIL)
			return LBX_FAIL;
		if (axes[i] < 0 || axes[i] >= from.rank || chosen >> axes[i] & 1 || sizes[axes[i]] != 1 ||
		    !lb_mul(shape[0], from.shape[axes[i]], &shape[0]))
			return lbx_mlx_no_recipe(n, "such axes");
		chosen |= 1u << axes[i];
		order[k++] = (int)axes[i];
		indices = lbx_mlx_from_beginning(n, indices, from.shape[axes[i]]);
		at = i ? lbx_step_binary(n->r, LB_OP_ADD,
					 lbx_step_with(n->r, LB_OP_MULTIPLY, at, (double)from.shape[axes[i]]), indices)
		       : indices;
	}
	int rest = 1;
	for (int i = 0; i < from.rank; i++) {
		if (chosen >> i & 1)
			continue;
		x = lbx_step_narrow(n->r, x, i, 0, sizes[i], 1);
		order[k++] = i;
		shape[rest++] = sizes[i];
	}
	x = lbx_step_reshape(n->r, lbx_step_permute(n->r, x, order), rest, shape);
	return lbx_step_reshape(n->r, lbx_step_take(n->r, x, at, 0), n->record.rank, n->record.sizes);
}

/* Where each of some axes begins is the second input. */
int lbx_mlx_recipe_dynamic_slice(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0), starts = lbx_mlx_input(n, 1), n_axes;
	int64_t axes[LB_MAX_RANK];

	if (x == LBX_FAIL || starts == LBX_FAIL || !lbx_mlx_ints(n, LBX_MLX_OWN_WORDS, &n_axes, axes))
		return LBX_FAIL;
	if (lbx_step(n->r, starts)->rank != 1 || lbx_step(n->r, starts)->shape[0] != n_axes ||
	    lbx_step(n->r, x)->rank != n->record.rank)
		return lbx_mlx_no_recipe(n, "such axes");
	starts = lbx_step_cast(n->r, starts, LB_I64);
	for (int i = 0, chosen = 0; i < n_axes; i++) {
		if (axes[i] < 0 || axes[i] >= n->record.rank || chosen >> axes[i] & 1)
			return lbx_mlx_no_recipe(n, "such axes");
		chosen |= 1 << axes[i];
		int at = lbx_step_cast(n->r, lbx_step_arange(n->r, n->record.sizes[axes[i]]), LB_I64);
		at = lbx_step_binary(n->r, LB_OP_ADD, at, lbx_step_narrow(n->r, starts, 0, i, 1, 1));
		x = lbx_step_take(n->r, x, at, (int)axes[i]);
	}
	for (int i = 0; i < n->record.rank; i++)
		x = lbx_step_narrow(n->r, x, i, 0, n->record.sizes[i], 1);
	return x;
}
