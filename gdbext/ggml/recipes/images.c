/* Windows that move over an input: convolutions and pools; and what images and their models need besides. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "ggml/recipe.h"

int lbx_ggml_windowed(struct lbx_ggml_node *n, int x, const struct lbx_ggml_windows *w, double value)
{
	int64_t low[LB_MAX_RANK] = { 0 }, needed, reach;

	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, x);
	if (w->k < 1 || w->stride < 1 || w->dilation < 1 || w->padding < 0 || w->count < 1 || s.rank >= LB_MAX_RANK ||
	    !lb_mul(w->count - 1, w->stride, &needed) || !lb_mul(w->k - 1, w->dilation, &reach) ||
	    !lb_sum_of(needed, reach, &needed) || needed >= INT64_MAX / 2)
		return lbx_ggml_no_recipe(n, "such windows");
	needed++;
	low[w->axis] = w->padding;
	int64_t held = s.shape[w->axis] + w->padding;
	s.shape[w->axis] = held > needed ? held : needed;
	x = s.shape[w->axis] == held && w->padding == 0 ? x : lbx_step_pad(n->r, x, low, s.shape, value);
	if (x == LBX_FAIL)
		return LBX_FAIL;
	s = *lbx_step(n->r, x);
	for (int i = s.rank; i > w->axis + 1; i--) {
		s.shape[i] = s.shape[i - 1];
		s.strides[i] = s.strides[i - 1];
	}
	s.shape[w->axis + 1] = w->k;
	s.strides[w->axis + 1] = s.strides[w->axis] * w->dilation;
	s.shape[w->axis] = w->count;
	s.strides[w->axis] *= w->stride;
	return lbx_step_view(n->r, x, s.rank + 1, s.shape, s.strides, s.offset);
}

/* Of (images, channels, rows, columns): (images, channels, count, k, count, k). */
static int windows_2d(struct lbx_ggml_node *n, int x, const struct lbx_ggml_windows *across,
		      const struct lbx_ggml_windows *down, double value)
{
	return lbx_ggml_windowed(n, lbx_ggml_windowed(n, x, across, value), down, value);
}

/* A kernel's two axes, from parameters: strides, padding and dilation, two each. */
static void windows_of(const struct lbx_ggml_node *n, int kernel, int64_t columns, int64_t rows,
		       struct lbx_ggml_windows ret[2])
{
	for (int d = 0; d < 2; d++)
		ret[d] = (struct lbx_ggml_windows){ .axis = 3 - d,
						    .count = d ? rows : columns,
						    .k = lbx_ggml_ne(n, kernel, d),
						    .stride = lbx_ggml_int(n, d),
						    .padding = lbx_ggml_int(n, 2 + d),
						    .dilation = lbx_ggml_int(n, 4 + d) };
}

/* (images, rows, columns, channels * k * k). */
static int unfold(struct lbx_ggml_node *n, int x, int kernel, int64_t columns, int64_t rows)
{
	struct lbx_ggml_windows w[2];

	windows_of(n, kernel, columns, rows, w);
	int64_t shape[] = { lbx_ggml_ne(n, x, 3), rows, columns, lbx_ggml_ne(n, x, 2) * w[0].k * w[1].k };
	x = lbx_step_permute(n->r, windows_2d(n, x, &w[0], &w[1], 0), (int[]){ 0, 2, 4, 1, 3, 5 });
	return lbx_step_reshape(n->r, x, LBX_GGML_AXES, shape);
}

int lbx_ggml_recipe_im2col(struct lbx_ggml_node *n)
{
	int kernel = lbx_ggml_source(n, 0), x = lbx_ggml_source(n, 1);

	if (kernel == LBX_FAIL || x == LBX_FAIL)
		return LBX_FAIL;
	if (lbx_ggml_int(n, 6))
		return unfold(n, x, kernel, n->shape[2], n->shape[1]);
	/* one axis: (1, images, channels, columns) */
	struct lbx_ggml_windows w = { .axis = 3,
				      .count = n->shape[2],
				      .k = lbx_ggml_ne(n, kernel, 0),
				      .stride = lbx_ggml_int(n, 0),
				      .padding = lbx_ggml_int(n, 2),
				      .dilation = lbx_ggml_int(n, 4) };
	x = lbx_step_permute(n->r, lbx_ggml_windowed(n, x, &w, 0), (int[]){ 0, 1, 3, 2, 4 });
	return lbx_step_reshape(n->r, x, LBX_GGML_AXES, n->shape);
}

int lbx_ggml_recipe_conv_2d(struct lbx_ggml_node *n)
{
	int kernel = lbx_ggml_source_float(n, 0);
	int x = unfold(n, lbx_ggml_source_float(n, 1), kernel, n->shape[3], n->shape[2]);

	kernel = lbx_step_reshape(n->r, kernel, LBX_GGML_AXES, (int64_t[]){ 1, 1, n->shape[1], lbx_ggml_ne(n, x, 0) });
	return lbx_step_permute(n->r, lbx_ggml_product(n, kernel, x), (int[]){ 0, 3, 1, 2 });
}

/* Each channel by its own kernel. */
int lbx_ggml_recipe_conv_2d_dw(struct lbx_ggml_node *n)
{
	enum { WINDOW = 1 << 3 | 1 << 5 };
	int kernel = lbx_ggml_source_float(n, 0), x = lbx_ggml_source_float(n, 1);
	struct lbx_ggml_windows w[2];

	if (kernel == LBX_FAIL || x == LBX_FAIL)
		return LBX_FAIL;
	windows_of(n, kernel, n->shape[3], n->shape[2], w);
	x = windows_2d(n, x, &w[0], &w[1], 0);
	kernel = lbx_step_reshape(n->r, kernel, 6, (int64_t[]){ 1, n->shape[1], 1, w[1].k, 1, w[0].k });
	x = lbx_step_reduce(n->r, LB_OP_SUM, lbx_step_binary(n->r, LB_OP_MULTIPLY, x, kernel), WINDOW);
	return lbx_step_reshape(n->r, x, LBX_GGML_AXES, n->shape);
}

/* Each element of x, by a kernel for each of its channels, is added up where the kernel then lies. */
static int transposed(struct lbx_ggml_node *n, int axes)
{
	int kernel = lbx_ggml_source_float(n, 0), x = lbx_ggml_source_float(n, 1);
	int64_t stride = lbx_ggml_int(n, 0), columns = lbx_ggml_ne(n, x, 0),
		rows = axes == 2 ? lbx_ggml_ne(n, x, 1) : 1;
	int64_t across = lbx_ggml_ne(n, kernel, 0), down = axes == 2 ? lbx_ggml_ne(n, kernel, 1) : 1;
	int64_t channels = lbx_ggml_ne(n, x, axes), results = lbx_ggml_ne(n, kernel, axes);
	int64_t width = n->shape[3], height = axes == 2 ? n->shape[2] : 1;

	if (x == LBX_FAIL || kernel == LBX_FAIL)
		return LBX_FAIL;
	if (stride < 1 || stride > INT32_MAX || columns < 1 || rows < 1 || n->shape[0] != 1 ||
	    (axes == 1 && n->shape[1] != 1) || width != (columns - 1) * stride + across ||
	    (axes == 2 && height != (rows - 1) * stride + down))
		return lbx_ggml_no_recipe(n, "such sizes");
	x = lbx_step_reshape(n->r, x, 2, (int64_t[]){ channels, rows * columns });
	kernel = lbx_step_reshape(n->r, kernel, 2, (int64_t[]){ channels, results * down * across });
	x = lbx_step_matmul(n->r, lbx_step_permute(n->r, x, (int[]){ 1, 0 }), kernel);
	x = lbx_step_reshape(n->r, x, 5, (int64_t[]){ rows, columns, results, down, across });
	int zero = lbx_step_spread(n->r, lbx_step_number(n->r, LB_F32, 0), LBX_GGML_AXES, n->shape);
	const int64_t strides[] = { stride * width, stride, height * width, width, 1 };
	return lbx_step_strided_add(n->r, lbx_step_dense(n->r, zero), x, strides, 0);
}

int lbx_ggml_recipe_conv_transpose_1d(struct lbx_ggml_node *n)
{
	return transposed(n, 1);
}

int lbx_ggml_recipe_conv_transpose_2d(struct lbx_ggml_node *n)
{
	return transposed(n, 2);
}

/* Along a row: windows of a causal convolution, each channel with its own kernel. */
int lbx_ggml_recipe_ssm_conv(struct lbx_ggml_node *n)
{
	int x = lbx_ggml_source_float(n, 0), kernel = lbx_ggml_source_float(n, 1);
	struct lbx_ggml_windows w = {
		.axis = 3, .count = n->shape[2], .k = lbx_ggml_ne(n, kernel, 0), .stride = 1, .dilation = 1
	};

	if (lbx_ggml_has(n, 2))
		return lbx_ggml_no_recipe(n, "an older kind");
	x = lbx_ggml_windowed(n, x, &w, 0);
	kernel = lbx_step_reshape(n->r, kernel, 5, (int64_t[]){ 1, 1, n->shape[3], 1, w.k });
	x = lbx_step_reduce(n->r, LB_OP_SUM, lbx_step_binary(n->r, LB_OP_MULTIPLY, x, kernel), 1 << 4);
	x = lbx_step_reshape(n->r, x, 4, (int64_t[]){ 1, n->shape[1], n->shape[3], n->shape[2] });
	return lbx_step_permute(n->r, x, (int[]){ 0, 1, 3, 2 });
}

/* ---- pools ---- */

static int fold_windows(struct lbx_ggml_node *n, int x, const struct lbx_ggml_windows *w, int axes, int op,
			double value)
{
	uint32_t inner = axes == 2 ? 1 << 3 | 1 << 5 : 1 << 4;

	x = axes == 2 ? windows_2d(n, x, &w[0], &w[1], value) : lbx_ggml_windowed(n, x, &w[0], value);
	return lbx_step_reduce(n->r, op, x, inner);
}

/* Parameters: kind, then sizes, strides and paddings. The mean of a plane counts what lies outside, that of a row
 * does not. */
int lbx_ggml_recipe_pool(struct lbx_ggml_node *n)
{
	enum { MAXIMUM, MEAN };
	int axes = strcmp(n->tensor->op, "POOL_2D") == 0 ? 2 : 1, kind = lbx_ggml_int(n, 0),
	    x = lbx_ggml_source_float(n, 0);
	struct lbx_ggml_windows w[2];

	for (int d = 0; d < axes; d++)
		w[d] = (struct lbx_ggml_windows){ .axis = 3 - d,
						  .count = n->shape[3 - d],
						  .k = lbx_ggml_int(n, 1 + d),
						  .stride = lbx_ggml_int(n, 1 + axes + d),
						  .padding = lbx_ggml_int(n, 1 + 2 * axes + d),
						  .dilation = 1 };
	if (x == LBX_FAIL || (kind != MAXIMUM && kind != MEAN))
		return x == LBX_FAIL ? LBX_FAIL : lbx_ggml_no_recipe(n, "such a kind");
	int pooled =
	    fold_windows(n, x, w, axes, kind == MAXIMUM ? LB_OP_MAX : LB_OP_SUM, kind == MAXIMUM ? -FLT_MAX : 0);
	if (kind == MEAN && axes == 2) {
		pooled = lbx_step_with(n->r, LB_OP_DIVIDE, pooled, (double)(w[0].k * w[1].k));
	} else if (kind == MEAN) {
		const struct lbx_step like = *lbx_step(n->r, x);
		int one = lbx_step_number(n->r, LB_F32, 1);
		one = lbx_step_dense(n->r, lbx_step_spread(n->r, one, LBX_GGML_AXES, like.shape));
		int count = fold_windows(n, one, w, axes, LB_OP_SUM, 0);
		pooled = lbx_step_binary(n->r, LB_OP_DIVIDE, pooled, lbx_step_with(n->r, LB_OP_MAXIMUM, count, 1));
	}
	return lbx_step_reshape(n->r, pooled, LBX_GGML_AXES, n->shape);
}

/* ---- sizes ---- */

enum { SIZE_MOST = 1 << 14 };

static int whole_numbers(struct lbx_ggml_node *n, const float *values, int64_t count)
{
	return lbx_step_cast(n->r, lbx_step_constant(n->r, values, count), LB_I32);
}

static int nearest(struct lbx_ggml_node *n, int x, int axis, float factor)
{
	float from[SIZE_MOST];

	for (int64_t i = 0; i < n->shape[axis]; i++)
		from[i] = floorf((float)i / factor);
	return lbx_step_take(n->r, x, whole_numbers(n, from, n->shape[axis]), axis);
}

static int linear(struct lbx_ggml_node *n, int x, int axis, float factor, float offset)
{
	float below[SIZE_MOST], above[SIZE_MOST], share[SIZE_MOST];
	int64_t size = n->shape[axis], own = lbx_ggml_ne(n, x, LBX_GGML_AXIS_0 - axis),
		after = LBX_GGML_AXIS_0 - axis + 1;
	int64_t along[LBX_GGML_AXES] = { size, 1, 1, 1 };

	for (int64_t i = 0; i < size; i++) {
		float at = ((float)i + offset) / factor - offset, first = floorf(at), last = (float)(own - 1);
		below[i] = fminf(fmaxf(first, 0), last);
		above[i] = fminf(fmaxf(first + 1, 0), last);
		share[i] = fminf(fmaxf(at - below[i], 0), 1);
	}
	int low = lbx_step_take(n->r, x, whole_numbers(n, below, size), axis);
	int high = lbx_step_take(n->r, x, whole_numbers(n, above, size), axis);
	int part = lbx_step_reshape(n->r, lbx_step_constant(n->r, share, size), (int)after, along);
	int rest = lbx_step_with(n->r, LB_OP_ADD, lbx_step_unary(n->r, LB_OP_NEGATIVE, part), 1);
	return lbx_step_binary(n->r, LB_OP_ADD, lbx_step_binary(n->r, LB_OP_MULTIPLY, low, rest),
			       lbx_step_binary(n->r, LB_OP_MULTIPLY, high, part));
}

int lbx_ggml_recipe_upscale(struct lbx_ggml_node *n)
{
	enum { NEAREST, BILINEAR, CORNERS = 1 << 8 };
	/* once there was no mode, but a factor in its place */
	int32_t flags = lbx_ggml_has_op(n->anchor, "ALIBI") ? NEAREST : lbx_ggml_int(n, 0);
	int x = lbx_ggml_source_float(n, 0), mode = flags & 0xff;

	if ((flags & ~(0xff | CORNERS)) || mode > BILINEAR)
		return lbx_ggml_no_recipe(n, "such a mode");
	for (int i = 0; i < LBX_GGML_AXES && x != LBX_FAIL; i++) {
		int64_t own = lbx_ggml_ne(n, x, LBX_GGML_AXIS_0 - i), size = n->shape[i];
		bool corners = flags & CORNERS && i >= 2 && size > 1 && own > 1;
		float factor = corners ? (float)(size - 1) / (float)(own - 1) : (float)size / (float)own;
		if (size > SIZE_MOST || own == 0)
			return lbx_ggml_no_recipe(n, "such sizes");
		if (own == size)
			continue;
		x = mode == BILINEAR && i >= 2 ? linear(n, x, i, factor, flags & CORNERS ? 0 : 0.5F)
					       : nearest(n, x, i, factor);
	}
	return x;
}

/* ---- windows of a vision transformer ---- */

/* Row j, column i of w: relative position w - 1 - i + j. */
int lbx_ggml_recipe_get_rel_pos(struct lbx_ggml_node *n)
{
	int64_t rows = n->shape[1], w = n->shape[2];
	int table = lbx_ggml_source(n, 0), i = lbx_step_arange(n->r, w);
	int j = lbx_step_reshape(n->r, lbx_step_arange(n->r, rows), 2, (int64_t[]){ rows, 1 });
	int at = lbx_step_with(n->r, LB_OP_ADD, lbx_step_binary(n->r, LB_OP_SUBTRACT, j, i), (double)(w - 1));

	table = lbx_step_reshape(n->r, table, 2, (int64_t[]){ lbx_ggml_ne(n, table, 1), lbx_ggml_ne(n, table, 0) });
	return lbx_step_reshape(n->r, lbx_step_take(n->r, table, lbx_step_cast(n->r, at, LB_I32), 0), LBX_GGML_AXES,
				n->shape);
}

int lbx_ggml_recipe_win_part(struct lbx_ggml_node *n)
{
	int64_t across = lbx_ggml_int(n, 0), down = lbx_ggml_int(n, 1), w = lbx_ggml_int(n, 2), channels = n->shape[3];
	int x = lbx_ggml_source_float(n, 0);

	if (across < 1 || down < 1 || w < 1 || w > SIZE_MOST)
		return lbx_ggml_no_recipe(n, "such windows");
	x = lbx_step_pad(n->r, x, (int64_t[]){ 0, 0, 0, 0 }, (int64_t[]){ 1, down * w, across * w, channels }, 0);
	x = lbx_step_reshape(n->r, x, 5, (int64_t[]){ down, w, across, w, channels });
	return lbx_step_reshape(n->r, lbx_step_permute(n->r, x, (int[]){ 0, 2, 1, 3, 4 }), LBX_GGML_AXES, n->shape);
}

int lbx_ggml_recipe_win_unpart(struct lbx_ggml_node *n)
{
	int64_t w = lbx_ggml_int(n, 0), rows = n->shape[1], columns = n->shape[2], channels = n->shape[3];
	int x = lbx_ggml_source_float(n, 0);

	if (w < 1 || w > SIZE_MOST)
		return lbx_ggml_no_recipe(n, "such windows");
	int64_t down = (rows + w - 1) / w, across = (columns + w - 1) / w;
	x = lbx_step_reshape(n->r, x, 5, (int64_t[]){ down, across, w, w, channels });
	x = lbx_step_reshape(n->r, lbx_step_permute(n->r, x, (int[]){ 0, 2, 1, 3, 4 }), LBX_GGML_AXES,
			     (int64_t[]){ 1, down * w, across * w, channels });
	return lbx_step_narrow(n->r, lbx_step_narrow(n->r, x, 1, 0, rows, 1), 2, 0, columns, 1);
}
