/* What another place, another order or another shape makes of elements. */
#include <string.h>

#include "base/error.h"
#include "mlx/recipe.h"

int lbx_mlx_recipe_same(struct lbx_mlx_node *n)
{
	return lbx_mlx_input(n, 0);
}

/* The i-th result is the i-th input. */
int lbx_mlx_recipe_depends(struct lbx_mlx_node *n)
{
	return lbx_mlx_input(n, n->record.position);
}

/* As what a function of the program's has made of its inputs, which stand in front of that. */
int lbx_mlx_recipe_custom(struct lbx_mlx_node *n)
{
	uint32_t results = n->record.siblings.n + 1;

	if (results > n->n_inputs || n->record.position >= results)
		return lbx_mlx_no_recipe(n, "so few inputs");
	return lbx_mlx_input(n, n->n_inputs - results + n->record.position);
}

/* Over elements in row-major order. */
int lbx_mlx_recipe_as_strided(struct lbx_mlx_node *n)
{
	uint32_t at = LBX_MLX_OWN_WORDS + lbx_mlx_shape_bytes(n);
	int x = lbx_step_dense(n->r, lbx_mlx_input(n, 0)), n_shape, n_strides;
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK], offset, reach, low = 0, high = 0;

	if (x == LBX_FAIL || !lbx_mlx_shape(n, LBX_MLX_OWN_WORDS, &n_shape, shape) ||
	    !lbx_mlx_strides(n, at, &n_strides, strides) || !lbx_mlx_word(n, at + lbx_mlx_strides_bytes(n), &offset))
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, x);
	if (n_shape != n_strides || n_shape != n->record.rank)
		return lbx_mlx_no_recipe(n, "such axes");
	for (int i = 0; i < n_shape; i++) {
		if (shape[i] < 1 || !lb_mul(shape[i] - 1, strides[i], &reach) ||
		    !lb_sum_of(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
			return lbx_mlx_no_recipe(n, "such a shape");
	}
	int64_t size = 1;
	for (int i = 0; i < s.rank; i++)
		size *= s.shape[i];
	if (offset < 0 || offset >= size || low < -offset || high >= size - offset)
		return lbx_mlx_no_recipe(n, "a view beyond its elements");
	return lbx_step_view(n->r, x, n_shape, shape, strides, s.offset + offset);
}

/* Newer ones have more inputs, whose shapes alone count. */
int lbx_mlx_recipe_broadcast(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0);

	return n->is_traced ? x : lbx_step_spread(n->r, x, n->record.rank, n->record.sizes);
}

int lbx_mlx_recipe_reshape(struct lbx_mlx_node *n)
{
	return lbx_step_reshape(n->r, lbx_mlx_input(n, 0), n->record.rank, n->record.sizes);
}

int lbx_mlx_recipe_transpose(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0), count, axes[LB_MAX_RANK];
	int64_t list[LB_MAX_RANK];

	if (x == LBX_FAIL || !lbx_mlx_ints(n, LBX_MLX_OWN_WORDS, &count, list))
		return LBX_FAIL;
	if (count != lbx_step(n->r, x)->rank)
		return lbx_mlx_no_recipe(n, "such axes");
	for (int i = 0; i < count; i++)
		axes[i] = (int)list[i];
	return lbx_step_permute(n->r, x, axes);
}

int lbx_mlx_sliced(const struct lbx_mlx_node *n, int x, const int64_t *begin, const int64_t *step, const int64_t *sizes)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, x);
	for (int i = 0; i < s.rank; i++) {
		int64_t count = sizes[i], last;
		if (count && (begin[i] < 0 || begin[i] >= s.shape[i] || !lb_mul(count - 1, step[i], &last) ||
			      last < -begin[i] || last >= s.shape[i] - begin[i]))
			return lbx_mlx_no_recipe(n, "such indices");
		s.offset += count ? begin[i] * s.strides[i] : 0;
		s.strides[i] *= count > 1 ? step[i] : 1;
	}
	return lbx_step_view(n->r, x, s.rank, sizes, s.strides, s.offset);
}

/* Where each axis begins, and steps, which may be backwards; how many there are is the record's shape. */
int lbx_mlx_recipe_slice(struct lbx_mlx_node *n)
{
	uint32_t width = lbx_mlx_shape_bytes(n);
	int x = lbx_mlx_input(n, 0), n_begin, n_step;
	int64_t begin[LB_MAX_RANK], step[LB_MAX_RANK];

	if (x == LBX_FAIL || !lbx_mlx_shape(n, LBX_MLX_OWN_WORDS, &n_begin, begin) ||
	    !lbx_mlx_shape(n, LBX_MLX_OWN_WORDS + 2 * width, &n_step, step))
		return LBX_FAIL;
	int rank = lbx_step(n->r, x)->rank;
	if (n_begin != rank || n_step != rank || n->record.rank != rank)
		return lbx_mlx_no_recipe(n, "such axes");
	return lbx_mlx_sliced(n, x, begin, step, n->record.sizes);
}

/* The result before it ends where this one begins. */
int lbx_mlx_recipe_split(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0), axis, count;
	int64_t at[LB_MAX_RANK], begin = 0;
	uint32_t position = n->record.position;

	if (x == LBX_FAIL || !lbx_mlx_axis(n, LBX_MLX_OWN_WORDS + lbx_mlx_shape_bytes(n), x, &axis) ||
	    !lbx_mlx_shape(n, LBX_MLX_OWN_WORDS, &count, at))
		return LBX_FAIL;
	int64_t end = lbx_step(n->r, x)->shape[axis];
	if (position > (uint32_t)count || axis >= n->record.rank)
		return lbx_mlx_no_recipe(n, "such indices");
	begin = position ? at[position - 1] : 0;
	end = position < (uint32_t)count ? at[position] : end;
	if (begin < 0 || end - begin != n->record.sizes[axis])
		return lbx_mlx_no_recipe(n, "such indices");
	return lbx_step_narrow(n->r, x, axis, begin, end - begin, 1);
}

int lbx_mlx_recipe_concatenate(struct lbx_mlx_node *n)
{
	enum { FEW = 256 };
	int parts[FEW], axis;

	if (n->n_inputs > FEW)
		return lbx_mlx_no_recipe(n, "so many inputs");
	for (uint32_t i = 0; i < n->n_inputs; i++) {
		parts[i] = lbx_mlx_input(n, i);
		if (parts[i] == LBX_FAIL)
			return LBX_FAIL;
		if (lbx_step(n->r, parts[i])->rank != n->record.rank ||
		    lbx_step(n->r, parts[i])->dtype != n->record.dtype)
			return lbx_mlx_no_recipe(n, "inputs that do not fit it");
	}
	if (!n->n_inputs || !lbx_mlx_axis(n, LBX_MLX_OWN, parts[0], &axis))
		return LBX_FAIL;
	return lbx_step_join(n->r, (int)n->n_inputs, parts, axis);
}

/* How much is in front, of some axes; the rest is the second input. */
int lbx_mlx_recipe_pad(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0), value = lbx_mlx_input(n, 1), n_axes, n_low;
	int64_t axes[LB_MAX_RANK], front[LB_MAX_RANK], low[LB_MAX_RANK] = { 0 };

	if (x == LBX_FAIL || value == LBX_FAIL || !lbx_mlx_ints(n, LBX_MLX_OWN_WORDS, &n_axes, axes) ||
	    !lbx_mlx_shape(n, LBX_MLX_OWN_WORDS + LBX_MLX_VECTOR, &n_low, front))
		return LBX_FAIL;
	int rank = lbx_step(n->r, x)->rank;
	if (n_axes != n_low || rank != n->record.rank || lbx_step(n->r, value)->rank != 0)
		return lbx_mlx_no_recipe(n, "such axes");
	for (int i = 0; i < n_axes; i++) {
		if (axes[i] < 0 || axes[i] >= rank || low[axes[i]])
			return lbx_mlx_no_recipe(n, "such axes");
		low[axes[i]] = front[i];
	}
	return lbx_step_pad_with(n->r, x, low, n->record.sizes, value);
}

/* Of one axis the indices, of the others all: the axes of the indices come first, then all of the source's, of which
 * that one has 1. */
int lbx_mlx_recipe_gather(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0), indices = lbx_mlx_input(n, 1), n_axes, n_sizes, axes[LB_MAX_RANK];
	int64_t list[LB_MAX_RANK], sizes[LB_MAX_RANK];

	if (x == LBX_FAIL || indices == LBX_FAIL || !lbx_mlx_ints(n, LBX_MLX_OWN_WORDS, &n_axes, list) ||
	    !lbx_mlx_shape(n, LBX_MLX_OWN_WORDS + LBX_MLX_VECTOR, &n_sizes, sizes))
		return LBX_FAIL;
	struct lbx_step from = *lbx_step(n->r, x), by = *lbx_step(n->r, indices);
	if (n_axes > 1 && n->n_inputs == (uint32_t)n_axes + 1 && n_sizes == from.rank)
		return lbx_mlx_recipe_gather_several(n, n_axes, list, sizes);
	bool fits = n_axes == 1 && n->n_inputs == 2 && n_sizes == from.rank && list[0] >= 0 && list[0] < from.rank &&
		    by.rank + from.rank <= LB_MAX_RANK && n->record.rank == by.rank + from.rank;
	for (int i = 0; fits && i < from.rank; i++)
		fits = sizes[i] == (i == list[0] ? 1 : from.shape[i]);
	if (!fits)
		return lbx_mlx_no_recipe(n, "such axes");
	int axis = (int)list[0], taken = lbx_step_take(n->r, x, indices, axis), k = 0;
	for (int i = 0; i < by.rank; i++)
		axes[k++] = axis + i;
	for (int i = 0; i < from.rank - 1; i++)
		axes[k++] = i < axis ? i : i + by.rank;
	return lbx_step_reshape(n->r, lbx_step_permute(n->r, taken, axes), n->record.rank, n->record.sizes);
}

int lbx_mlx_recipe_gather_axis(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0), axis;

	if (!lbx_mlx_axis(n, LBX_MLX_OWN, x, &axis))
		return LBX_FAIL;
	return lbx_step_take_along(n->r, x, lbx_mlx_input(n, 1), axis);
}

/* MLX adds the step again and again in the array's dtype: what that rounds differs from version to version. */
int lbx_mlx_recipe_arange(struct lbx_mlx_node *n)
{
	int64_t most = n->record.dtype == LB_BF16 ? 1 << 8 : n->record.dtype == LB_F16 ? 1 << 11 : 1 << 23;
	double start, step;

	if (!lbx_mlx_double(n, LBX_MLX_OWN_WORDS, &start) || !lbx_mlx_double(n, LBX_MLX_OWN_WORDS + 16, &step))
		return LBX_FAIL;
	if (n->record.rank != 1 || n->record.dtype == LB_C64 || n->record.dtype == LB_BOOL)
		return lbx_mlx_no_recipe(n, "such a shape or dtype");
	double last = start + step * (double)n->record.size;
	bool whole = start > -1e9 && start < 1e9 && step > -1e9 && step < 1e9 && start == (double)(int64_t)start &&
		     step == (double)(int64_t)step;
	bool exact = start >= (double)-most && start <= (double)most && last >= (double)-most && last <= (double)most;
	bool is_integer = !lb_dtype_is_float((int)n->record.dtype);
	if (!whole || (!exact && !is_integer))
		return lbx_mlx_no_recipe(n, "numbers that are rounded");
	if (is_integer) {
		int64_t params[LB_PARAMS] = { 0 };
		memcpy(&params[0], &start, sizeof start);
		memcpy(&params[1], &step, sizeof step);
		return lbx_step_over(n->r, LB_OP_ARANGE, n->record.dtype, 1, n->record.sizes, 0, NULL, params);
	}
	int x = lbx_step_with(n->r, LB_OP_MULTIPLY, lbx_step_arange(n->r, n->record.size), step);
	return lbx_step_cast(n->r, lbx_step_with(n->r, LB_OP_ADD, x, start), n->record.dtype);
}
