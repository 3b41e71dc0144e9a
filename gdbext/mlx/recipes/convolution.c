/* Convolutions as products: windows of x, whose last axis is that of channels, by the kernels. */
#include "base/error.h"
#include "mlx/recipe.h"

enum { SPACE = 3 }; /* axes of windows, at most */

struct convolution {
	int n; /* axes that it goes along */
	int64_t low[LB_MAX_RANK], high[LB_MAX_RANK], stride[LB_MAX_RANK], dilation[LB_MAX_RANK], spread[LB_MAX_RANK];
	int32_t groups;
	bool flip;
};

/* One list for each axis; `padding` lists of padding, one of which stands for both ends. */
static bool take_fields(const struct lbx_mlx_node *n, int padding, struct convolution *c)
{
	int64_t *const both[] = { c->low, c->high, c->stride, c->dilation, c->spread };
	int64_t *const one[] = { c->low, c->stride, c->dilation, c->spread };
	uint32_t at = LBX_MLX_OWN_WORDS;

	for (int i = 0; i < padding + 3; i++, at += LBX_MLX_VECTOR) {
		int count;
		if (!lbx_mlx_ints(n, at, &count, padding == 2 ? both[i] : one[i]))
			return false;
		if (count != c->n)
			return lbx_mlx_no_recipe(n, "such axes") != LBX_FAIL;
	}
	for (int i = 0; padding == 1 && i < c->n; i++)
		c->high[i] = c->low[i];
	return lbx_mlx_int(n, at, &c->groups) && lbx_mlx_flag(n, at + 4, &c->flip);
}

/* MLX has kept padding for both ends apart since one of the versions from 0.22 to 0.25. */
static bool take_all(const struct lbx_mlx_node *n, struct convolution *c)
{
	if (take_fields(n, 2, c))
		return true;
	lb_clear_error();
	return take_fields(n, 1, c);
}

/* Whether it makes the array's shape. */
static bool fits(const struct lbx_mlx_node *n, const struct lbx_step *x, const struct lbx_step *w,
		 const struct convolution *c)
{
	bool ok = c->groups >= 1 && w->shape[0] % c->groups == 0 && n->record.rank == x->rank &&
		  w->shape[w->rank - 1] * c->groups == x->shape[x->rank - 1] &&
		  n->record.sizes[x->rank - 1] == w->shape[0] && n->record.sizes[0] == x->shape[0];

	for (int i = 0; ok && i < c->n; i++) {
		int64_t reach, padded = x->shape[i + 1] + c->low[i] + c->high[i];
		ok = c->low[i] >= 0 && c->high[i] >= 0 && c->stride[i] >= 1 && c->dilation[i] >= 1 &&
		     w->shape[i + 1] >= 1 && x->shape[i + 1] < INT32_MAX &&
		     lb_mul(w->shape[i + 1] - 1, c->dilation[i], &reach) && reach < padded &&
		     n->record.sizes[i + 1] == (padded - reach - 1) / c->stride[i] + 1;
	}
	return ok;
}

/* Zeros between elements, as a transposed convolution has them. */
static int spread_out(const struct lbx_mlx_node *n, int x, const struct convolution *c)
{
	int64_t first[LB_MAX_RANK] = { 0 }, steps[LB_MAX_RANK];
	bool is_spread = false;

	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, x);
	for (int i = 0; i < s.rank; i++)
		steps[i] = 1;
	for (int i = 0; i < c->n; i++) {
		int64_t *size = &s.shape[i + 1];
		if (c->spread[i] < 1 || *size < 1 || !lb_mul(*size - 1, c->spread[i], size) || *size >= INT32_MAX)
			return lbx_mlx_no_recipe(n, "such steps");
		*size += 1;
		steps[i + 1] = c->spread[i];
		is_spread |= c->spread[i] > 1;
	}
	if (!is_spread)
		return x;
	int zeros = lbx_step_spread(n->r, lbx_step_number(n->r, s.dtype, 0), s.rank, s.shape);
	return lbx_step_put_slice(n->r, lbx_step_dense(n->r, zeros), x, first, steps);
}

/* Each kernel backwards. */
static int turned(const struct lbx_mlx_node *n, int w, const struct convolution *c)
{
	if (w == LBX_FAIL || !c->flip)
		return w;
	struct lbx_step s = *lbx_step(n->r, w);
	for (int i = 1; i <= c->n; i++) {
		s.offset += s.shape[i] ? (s.shape[i] - 1) * s.strides[i] : 0;
		s.strides[i] = -s.strides[i];
	}
	return lbx_step_dense(n->r, lbx_step_view(n->r, w, s.rank, s.shape, s.strides, s.offset));
}

/* (n, places, kernel's elements, channels) */
static int windows(struct lbx_mlx_node *n, int x, const struct lbx_step *w, const struct convolution *c)
{
	struct lbx_step padded = *lbx_step(n->r, x), to = { .rank = 2 * c->n + 2 };
	int64_t low[LB_MAX_RANK] = { 0 }, shape[4] = { padded.shape[0], 1, 1, padded.shape[c->n + 1] };

	for (int i = 0; i < c->n; i++) {
		low[i + 1] = c->low[i];
		padded.shape[i + 1] += c->low[i] + c->high[i];
	}
	x = lbx_step_pad(n->r, x, low, padded.shape, 0);
	if (x == LBX_FAIL)
		return LBX_FAIL;
	padded = *lbx_step(n->r, x);
	to.shape[0] = padded.shape[0];
	to.strides[0] = padded.strides[0];
	to.shape[to.rank - 1] = padded.shape[c->n + 1];
	to.strides[to.rank - 1] = padded.strides[c->n + 1];
	for (int i = 1; i <= c->n; i++) {
		to.shape[i] = n->record.sizes[i];
		to.strides[i] = padded.strides[i] * c->stride[i - 1];
		to.shape[c->n + i] = w->shape[i];
		to.strides[c->n + i] = padded.strides[i] * c->dilation[i - 1];
		if (!lb_mul(shape[1], to.shape[i], &shape[1]) || !lb_mul(shape[2], w->shape[i], &shape[2]))
			return lbx_mlx_no_recipe(n, "such a shape");
	}
	x = lbx_step_view(n->r, x, to.rank, to.shape, to.strides, padded.offset);
	return lbx_step_reshape(n->r, lbx_step_dense(n->r, x), 4, shape);
}

/* Each group of channels has kernels of its own. */
int lbx_mlx_recipe_convolution(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0), w = lbx_mlx_input(n, 1);
	struct convolution c = { 0 };

	if (x == LBX_FAIL || w == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step image = *lbx_step(n->r, x), kernel = *lbx_step(n->r, w);
	c.n = image.rank - 2;
	if (c.n < 1 || c.n > SPACE || kernel.rank != image.rank || !lb_dtype_is_float((int)image.dtype) ||
	    kernel.dtype != image.dtype)
		return lbx_mlx_no_recipe(n, "such shapes or dtypes");
	if (!take_all(n, &c))
		return LBX_FAIL;
	x = spread_out(n, x, &c);
	w = turned(n, w, &c);
	if (x == LBX_FAIL || w == LBX_FAIL)
		return LBX_FAIL;
	image = *lbx_step(n->r, x);
	if (!fits(n, &image, &kernel, &c))
		return lbx_mlx_no_recipe(n, "such padding, steps or groups");
	enum lb_dtype dtype = lbx_mlx_is_half(image.dtype) ? LB_F32 : image.dtype;
	x = windows(n, lbx_step_cast(n->r, x, dtype), &kernel, &c);
	w = lbx_step_cast(n->r, w, dtype);
	if (x == LBX_FAIL || w == LBX_FAIL)
		return LBX_FAIL;
	int64_t places = lbx_step(n->r, x)->shape[1], k = lbx_step(n->r, x)->shape[2], g = c.groups,
		in = kernel.shape[kernel.rank - 1], out = kernel.shape[0] / g;
	x = lbx_step_reshape(n->r, x, 5, (int64_t[]){ image.shape[0], places, k, g, in });
	x = lbx_step_permute(n->r, x, (int[]){ 0, 3, 1, 2, 4 });
	x = lbx_step_reshape(n->r, x, 4, (int64_t[]){ image.shape[0], g, places, k * in });
	w = lbx_step_reshape(n->r, w, 3, (int64_t[]){ g, out, k * in });
	x = lbx_step_matmul(n->r, x, lbx_step_permute(n->r, w, (int[]){ 0, 2, 1 }));
	x = lbx_step_permute(n->r, x, (int[]){ 0, 2, 1, 3 });
	return lbx_step_cast(n->r, lbx_step_reshape(n->r, x, n->record.rank, n->record.sizes), n->record.dtype);
}
