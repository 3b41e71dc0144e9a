/* What another place, another order or another dtype makes of elements. */
#include <string.h>

#include "base/error.h"
#include "ggml/recipe.h"
#include "tensors/tensors.h"

/* The value of what a view was made of has another layout than ggml's, unless it lies in ggml's own memory; but where
 * strides are the same, or the elements lie row by row in both, the view's are good, too, from another offset on. */
int lbx_ggml_recipe_view(struct lbx_ggml_node *n)
{
	const struct lbx_tensor *t = n->tensor;
	struct lbx_tensor base;
	int input = lbx_ggml_has(n, 0) ? n->sources[0] : n->viewed;
	int x = lbx_step_input(n->r, input);

	if (x == LBX_FAIL || !lbx_tensor_input(t, (uint32_t)input, &base))
		return LBX_FAIL;
	if (base.buffer_id != t->buffer_id || base.encoding || t->encoding)
		return lbx_ggml_no_recipe(n, base.encoding ? "blocks that are not in memory" : "other memory");
	bool same = true, dense = true;
	int64_t stride = 1;
	for (int i = base.rank; i-- > 0; stride *= lbx_shape(&base)[i]) {
		bool counts = lbx_shape(&base)[i] > 1;
		dense = dense && (!counts || lbx_strides(&base)[i] == stride);
		same = same && (!counts || lbx_strides(&base)[i] == lbx_step(n->r, x)->strides[i]);
	}
	if (!same && !dense)
		return lbx_ggml_no_recipe(n, "what does not lie row by row");
	x = same ? x : lbx_step_dense(n->r, x);
	if (x == LBX_FAIL)
		return LBX_FAIL;
	int64_t offset = lbx_step(n->r, x)->offset - base.offset;
	if (!lb_sum_of(offset, t->offset, &offset) || offset < 0)
		return lbx_ggml_no_recipe(n, "other memory");
	return lbx_step_view(n->r, x, t->rank, lbx_shape(t), lbx_strides(t), offset);
}

int lbx_ggml_recipe_reshape(struct lbx_ggml_node *n)
{
	return lbx_step_reshape(n->r, lbx_ggml_source(n, 0), LBX_GGML_AXES, n->shape);
}

/* Axis d of the source becomes axis params[d]. */
int lbx_ggml_recipe_permute(struct lbx_ggml_node *n)
{
	int axes[LBX_GGML_AXES] = { 0 };

	for (int d = 0; d < LBX_GGML_AXES; d++) {
		int32_t to = lbx_ggml_int(n, d);
		if (to < 0 || to >= LBX_GGML_AXES)
			return lbx_ggml_no_recipe(n, "such axes");
		axes[LBX_GGML_AXIS_0 - to] = LBX_GGML_AXIS_0 - d;
	}
	return lbx_step_permute(n->r, lbx_ggml_source(n, 0), axes);
}

int lbx_ggml_recipe_transpose(struct lbx_ggml_node *n)
{
	return lbx_step_permute(n->r, lbx_ggml_source(n, 0), (int[]){ 0, 1, 3, 2 });
}

/* Into memory that may be another tensor's; what was there does not matter. */
int lbx_ggml_recipe_copy(struct lbx_ggml_node *n)
{
	return lbx_step_reshape(n->r, lbx_ggml_source(n, 0), LBX_GGML_AXES, n->shape);
}

int lbx_ggml_recipe_repeat(struct lbx_ggml_node *n)
{
	return lbx_ggml_repeat(n, lbx_ggml_source(n, 0), n->shape);
}

/* The axis is where sizes add up: once it was no parameter. */
int lbx_ggml_recipe_concat(struct lbx_ggml_node *n)
{
	int parts[] = { lbx_ggml_source(n, 0), lbx_ggml_source(n, 1) };

	if (parts[0] == LBX_FAIL || parts[1] == LBX_FAIL)
		return LBX_FAIL;
	for (int i = 0; i < LBX_GGML_AXES; i++)
		if (lbx_step(n->r, parts[0])->shape[i] != n->shape[i])
			return lbx_step_join(n->r, 2, parts, i);
	return parts[0];
}

/* Older ones pad behind alone, and have no parameters. */
int lbx_ggml_recipe_pad(struct lbx_ggml_node *n)
{
	int64_t low[LBX_GGML_AXES];

	if (lbx_ggml_int(n, 8))
		return lbx_ggml_no_recipe(n, "a torus");
	for (int i = 0; i < LBX_GGML_AXES; i++)
		low[i] = lbx_ggml_int(n, 2 * (LBX_GGML_AXIS_0 - i));
	return lbx_step_pad(n->r, lbx_ggml_source(n, 0), low, n->shape, 0);
}

int lbx_ggml_recipe_roll(struct lbx_ggml_node *n)
{
	int x = lbx_ggml_source(n, 0);

	for (int i = 0; i < LBX_GGML_AXES; i++) {
		int64_t size = n->shape[i], by = size ? lbx_ggml_int(n, LBX_GGML_AXIS_0 - i) % size : 0;
		by = by < 0 ? by + size : by;
		if (by)
			x = lbx_step_join(n->r, 2,
					  (int[]){ lbx_step_narrow(n->r, x, i, size - by, by, 1),
						   lbx_step_narrow(n->r, x, i, 0, size - by, 1) },
					  i);
	}
	return x;
}

int lbx_ggml_recipe_fill(struct lbx_ggml_node *n)
{
	return lbx_step_spread(n->r, lbx_step_number(n->r, LB_F32, lbx_ggml_float(n, 0)), LBX_GGML_AXES, n->shape);
}

int lbx_ggml_recipe_arange(struct lbx_ggml_node *n)
{
	int x = lbx_step_arange(n->r, n->shape[LBX_GGML_AXIS_0]);

	x = lbx_step_with(n->r, LB_OP_MULTIPLY, x, lbx_ggml_float(n, 2));
	return lbx_step_reshape(n->r, lbx_step_with(n->r, LB_OP_ADD, x, lbx_ggml_float(n, 0)), LBX_GGML_AXES, n->shape);
}

/* Element i of row j is masked where i > n_past + j. */
int lbx_ggml_recipe_diag_mask(struct lbx_ggml_node *n)
{
	bool zero = strcmp(n->tensor->op, "DIAG_MASK_ZERO") == 0;
	int x = lbx_ggml_source_float(n, 0), i = lbx_step_arange(n->r, n->shape[3]);
	int j = lbx_step_reshape(n->r, lbx_step_arange(n->r, n->shape[2]), 2, (int64_t[]){ n->shape[2], 1 });
	int masked = lbx_step_binary(n->r, LB_OP_GREATER, i, lbx_step_with(n->r, LB_OP_ADD, j, lbx_ggml_int(n, 0)));

	return lbx_step_where(n->r, masked, lbx_step_number(n->r, LB_F32, zero ? 0 : -__builtin_inf()), x);
}

/* ---- rows by number ---- */

enum { FEW_ROWS = 4096, SMALL_TABLE = 1 << 20 };

/* Of a large table in memory, only the rows that are asked for are read, if their numbers are in memory, too. */
static int few_rows(struct lbx_ggml_node *n, int table, int ids, int64_t count)
{
	const struct lbx_step *from = lbx_step(n->r, table), *by = lbx_step(n->r, ids);
	const struct lbx_tensor *rows = from->memory, *numbers = by->memory;
	int parts[FEW_ROWS];

	if (!rows || !numbers || count > FEW_ROWS || numbers->dtype != LB_I32 || rows->rank != 2 ||
	    numbers->rank != 1 || rows->size < SMALL_TABLE)
		return LBX_FAIL;
	int64_t shape[2] = { 1, lbx_shape(rows)[1] }, strides[2] = { lbx_strides(rows)[0], lbx_strides(rows)[1] };
	int64_t apart = lbx_strides(numbers)[0];
	for (int64_t i = 0; i < count; i++) {
		int32_t row;
		if (!lbx_target_try_read(n->target, numbers->data + (uint64_t)((numbers->offset + i * apart) * 4), &row,
					 sizeof row) ||
		    row < 0 || row >= lbx_shape(rows)[0])
			return LBX_FAIL;
		parts[i] = lbx_step_memory(n->r, table, 2, shape, strides, rows->offset + row * lbx_strides(rows)[0]);
	}
	return lbx_step_join(n->r, (int)count, parts, 0);
}

int lbx_ggml_recipe_get_rows(struct lbx_ggml_node *n)
{
	int table = lbx_ggml_source(n, 0), ids = lbx_ggml_source(n, 1), rows = LBX_FAIL;

	if (table == LBX_FAIL || ids == LBX_FAIL)
		return LBX_FAIL;
	int64_t count = lbx_ggml_ne(n, ids, 0);
	if (n->shape[0] == 1 && n->shape[1] == 1) {
		bool clean = lb_ok();
		rows = few_rows(n, n->sources[0], n->sources[1], count);
		if (rows == LBX_FAIL && clean && !lb_ok())
			return LBX_FAIL;
	}
	if (rows != LBX_FAIL)
		return lbx_step_reshape(n->r, rows, LBX_GGML_AXES, n->shape);
	/* the numbers' axes 1 and 2 are the table's 2 and 3 */
	ids = lbx_step_reshape(n->r, ids, LBX_GGML_AXES,
			       (int64_t[]){ lbx_ggml_ne(n, ids, 2), lbx_ggml_ne(n, ids, 1), count, 1 });
	return lbx_step_take_along(n->r, table, ids, 2);
}

/* The rows go where the numbers say; the others stay as they are. */
int lbx_ggml_recipe_set_rows(struct lbx_ggml_node *n)
{
	int rows = lbx_ggml_source(n, 0), ids = lbx_ggml_source(n, 1);
	int to = lbx_step_input(n->r, lbx_ggml_has(n, 2) ? n->sources[2] : n->viewed);

	to = lbx_step_reshape(n->r, to, LBX_GGML_AXES, n->shape);
	if (rows == LBX_FAIL || ids == LBX_FAIL || to == LBX_FAIL)
		return LBX_FAIL;
	ids = lbx_ggml_repeat(n, ids,
			      (int64_t[]){ 1, lbx_ggml_ne(n, rows, 3), lbx_ggml_ne(n, rows, 2),
					   lbx_ggml_ne(n, rows, 1) });
	ids = lbx_step_reshape(n->r, ids, LBX_GGML_AXES,
			       (int64_t[]){ lbx_ggml_ne(n, rows, 3), lbx_ggml_ne(n, rows, 2), lbx_ggml_ne(n, rows, 1),
					    1 });
	return lbx_step_put_along(n->r, to, ids, lbx_step_cast(n->r, rows, lbx_step(n->r, to)->dtype), 2);
}

/* ---- a part of a tensor ---- */

/* Parameters: bytes between neighbours along the axes 1 to 3, and where it begins. */
static int into(struct lbx_ggml_node *n, int x, int part)
{
	int64_t strides[LBX_GGML_AXES] = { lbx_ggml_int(n, 2), lbx_ggml_int(n, 1), lbx_ggml_int(n, 0),
					   (int64_t)sizeof(float) };

	for (int i = 0; i < LBX_GGML_AXES; i++) {
		if (strides[i] < 0 || strides[i] % (int64_t)sizeof(float))
			return lbx_ggml_no_recipe(n, "such strides");
		strides[i] /= (int64_t)sizeof(float);
	}
	int32_t offset = lbx_ggml_int(n, 3);
	if (offset < 0 || offset % (int32_t)sizeof(float))
		return lbx_ggml_no_recipe(n, "such strides");
	return lbx_step_strided_add(n->r, lbx_step_dense(n->r, x), part, strides, offset / (int32_t)sizeof(float));
}

int lbx_ggml_recipe_acc(struct lbx_ggml_node *n)
{
	return into(n, lbx_ggml_source_float(n, 0), lbx_ggml_source_float(n, 1));
}

int lbx_ggml_recipe_set(struct lbx_ggml_node *n)
{
	int x = lbx_ggml_source_float(n, 0), part = lbx_ggml_source_float(n, 1);
	int zero = lbx_step_spread(n->r, lbx_step_number(n->r, LB_F32, 0), LBX_GGML_AXES, n->shape);

	if (x == LBX_FAIL || part == LBX_FAIL || n->tensor->dtype != LB_F32)
		return x == LBX_FAIL || part == LBX_FAIL ? LBX_FAIL : lbx_ggml_no_recipe(n, "such a dtype");
	const struct lbx_step like = *lbx_step(n->r, part);
	int ones = lbx_step_number(n->r, LB_F32, 1);
	ones = lbx_step_dense(n->r, lbx_step_spread(n->r, ones, LBX_GGML_AXES, like.shape));
	int there = lbx_step_with(n->r, LB_OP_GREATER, into(n, zero, ones), 0);
	return lbx_step_where(n->r, there, into(n, zero, part), x);
}
