/* Pictures at points between their elements: those around are gathered, and added by their weights. Pictures are (batch,
 * channels, …), points of an axis (batch, …). */
#include <string.h>

#include "ops.h"

enum { MOST_AXES = 3, MOST_TAPS = 4 };

/* What is around points along an axis. */
struct taps {
	int n;
	lb_tensor *at[MOST_TAPS], *weight[MOST_TAPS]; /* whole numbers within the axis */
};

static lb_tensor *plus(lb_tensor *x, double number)
{
	return lb_add(x, lb_scalar(number));
}

static lb_tensor *times(lb_tensor *x, double number)
{
	return lb_multiply(x, lb_scalar(number));
}

static lb_tensor *between(lb_tensor *x, double low, double high)
{
	return lb_clip(x, lb_scalar(low), lb_scalar(high));
}

/* Part i of what is around: one tap of each axis, and the product of their weights; the axes' places broadcast. */
static lb_tensor *part(lb_tensor *x, int n, const struct taps *axes, int i)
{
	lb_tensor *at = lb_scalar_int(0), *weight = lb_scalar(1), *y;
	int64_t shape[LB_MAX_RANK];
	for (int k = 0; k < n; k++) {
		const struct taps *t = &axes[k];
		at = lb_add(lb_multiply(at, lb_scalar_int(lb_dim(x, 2 + k))), lb_astype(t->at[i % t->n], LB_I64));
		weight = lb_multiply(weight, t->weight[i % t->n]);
		i /= t->n;
	}
	if (!at)
		return NULL;
	shape[0] = lb_dim(at, 0);
	shape[1] = lb_dim(x, 1);
	for (int k = 1; k < lb_rank(at); k++)
		shape[k + 1] = lb_dim(at, k);
	y = lb_take_along_axis(lb_flatten(x, 2, -1), lb_reshape(at, LB_SHAPE(shape[0], 1, -1)), 2);
	return lb_multiply(lb_reshape(y, (lb_list){ lb_rank(at) + 1, shape }), lb_expand_dims(weight, LB_AXES(1)));
}

static lb_tensor *sampled(lb_tensor *x, int n, const struct taps *axes, lb_tensor *(*join)(lb_tensor *, lb_tensor *))
{
	int all = 1;
	for (int k = 0; k < n; k++)
		all *= axes[k].n;
	lb_tensor *y = part(x, n, axes, 0);
	for (int i = 1; i < all; i++)
		y = join(y, part(x, n, axes, i));
	return y;
}

/* ---- GridSample ---- */

struct grid {
	const char *mode, *padding;
	bool corners; /* -1 and 1 are the middles of the outer elements, not their edges */
};

/* Thrown back at both ends as often as it takes. */
static lb_tensor *reflected(lb_tensor *x, double low, double high)
{
	double length = high - low;
	lb_tensor *far = lb_abs(plus(x, -low)), *turns = lb_floor(times(far, 1 / length));
	lb_tensor *rest = lb_subtract(far, times(turns, length));
	lb_tensor *even = lb_equal(lb_remainder(turns, lb_scalar(2)), lb_scalar(0));
	return lb_where(even, plus(rest, low), lb_subtract(lb_scalar(high), rest));
}

static lb_tensor *padded(const struct grid *g, lb_tensor *x, int64_t size)
{
	double last = (double)(size - 1);
	if (strcmp(g->padding, "border") == 0)
		return between(x, 0, last);
	if (strcmp(g->padding, "reflection") == 0)
		return reflected(x, g->corners ? 0 : -0.5, g->corners ? last : last + 0.5);
	return x;
}

/* Weight of the element that is `far` away, -0.75 being the coefficient. */
static lb_tensor *cubic(lb_tensor *far)
{
	const double a = -0.75;
	lb_tensor *t = lb_abs(far);
	lb_tensor *near = plus(lb_multiply(lb_multiply(plus(times(t, a + 2), -(a + 3)), t), t), 1);
	lb_tensor *rest = plus(lb_multiply(plus(lb_multiply(plus(times(t, a), -5 * a), t), 8 * a), t), -4 * a);
	return lb_where(lb_less_equal(t, lb_scalar(1)), near, lb_where(lb_less(t, lb_scalar(2)), rest, lb_scalar(0)));
}

static struct taps around(const struct grid *g, lb_tensor *x, int64_t size)
{
	bool nearest = strcmp(g->mode, "nearest") == 0, smooth = strstr(g->mode, "cubic");
	struct taps t = { .n = nearest ? 1 : smooth ? 4 : 2 };
	double last = (double)(size - 1);
	x = g->corners ? times(plus(x, 1), last / 2) : plus(times(plus(x, 1), (double)size / 2), -0.5);
	x = nearest ? lb_round(x) : x;
	x = padded(g, x, size);
	lb_tensor *low = nearest ? x : lb_floor(x);
	for (int i = 0; i < t.n; i++) {
		lb_tensor *at = plus(low, smooth ? i - 1 : i), *far = lb_subtract(x, at);
		t.weight[i] = nearest ? lb_ones_like(x) : smooth ? cubic(far) : lb_subtract(lb_scalar(1), lb_abs(far));
		at = padded(g, at, size);
		t.at[i] = between(at, 0, last);
		if (strcmp(g->padding, "zeros") == 0)
			t.weight[i] = lb_where(lb_equal(at, t.at[i]), t.weight[i], lb_scalar(0));
	}
	return t;
}

static lb_tensor *grid_sample(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *grid = c->in[1];
	struct grid g = { onnx_text(c, "mode", "bilinear"), onnx_text(c, "padding_mode", "zeros"),
			  onnx_int(c, "align_corners", 0) };
	struct taps axes[MOST_AXES];
	int n = lb_rank(x) - 2;
	if (n < 1 || n > MOST_AXES)
		return onnx_refuse(c, "pictures of %d axes", n);
	for (int k = 0; k < n; k++) /* the last axis is the first in the grid */
		axes[k] = around(&g, lb_slice(grid, LB_REST, LB_AT(n - 1 - k)), lb_dim(x, 2 + k));
	return sampled(x, n, axes, lb_add);
}

/* ---- RoiAlign ---- */

/* Points of regions along an axis, `samples` in each of `bins`. */
static struct taps region(lb_tensor *start, lb_tensor *length, int64_t bins, int64_t samples, int64_t size)
{
	struct taps t = { .n = 2 };
	double n = (double)(bins * samples), last = (double)(size - 1);
	lb_tensor *step = times(plus(lb_arange(0, n, 1, LB_F32), 0.5), 1 / n);
	lb_tensor *x = lb_add(lb_expand_dims(start, LB_AXES(1)), lb_multiply(lb_expand_dims(length, LB_AXES(1)), step));
	lb_tensor *seen = lb_logical_and(lb_greater_equal(x, lb_scalar(-1)), lb_less_equal(x, lb_scalar((double)size)));
	x = between(x, 0, last);
	t.at[0] = lb_floor(x);
	t.at[1] = between(plus(t.at[0], 1), 0, last);
	t.weight[1] = lb_where(seen, lb_subtract(x, t.at[0]), lb_scalar(0));
	t.weight[0] = lb_where(seen, lb_subtract(plus(t.at[0], 1), x), lb_scalar(0));
	return t;
}

static lb_tensor *roi_align(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	bool half = strcmp(onnx_text(c, "coordinate_transformation_mode", "half_pixel"), "half_pixel") == 0;
	bool largest = strcmp(onnx_text(c, "mode", "avg"), "max") == 0;
	int64_t samples = onnx_int(c, "sampling_ratio", 0), bins[2];
	double scale = onnx_float(c, "spatial_scale", 1);
	struct taps axes[2];
	bins[0] = onnx_int(c, "output_height", 1);
	bins[1] = onnx_int(c, "output_width", 1);
	if (samples < 1)
		return onnx_refuse(c, "RoiAlign whose number of samples depends on values");
	for (int k = 0; k < 2; k++) { /* regions are x, y, x, y */
		lb_tensor *start = plus(times(lb_slice(c->in[1], LB_ALL, LB_AT(1 - k)), scale), half ? -0.5 : 0);
		lb_tensor *end = plus(times(lb_slice(c->in[1], LB_ALL, LB_AT(3 - k)), scale), half ? -0.5 : 0);
		lb_tensor *length = lb_subtract(end, start);
		length = half ? length : lb_maximum(length, lb_scalar(1));
		axes[k] = region(start, length, bins[k], samples, lb_dim(x, 2 + k));
		for (int i = 0; i < 2; i++) {
			axes[k].at[i] = lb_expand_dims(axes[k].at[i], LB_AXES(2 - k));
			axes[k].weight[i] = lb_expand_dims(axes[k].weight[i], LB_AXES(2 - k));
		}
	}
	lb_tensor *y = sampled(lb_take(x, c->in[2], 0), 2, axes, largest ? lb_maximum : lb_add);
	y = lb_unflatten(lb_unflatten(y, 3, LB_SHAPE(bins[1], samples)), 2, LB_SHAPE(bins[0], samples));
	return largest ? lb_max(y, LB_AXES(3, 5), false) : lb_mean(y, LB_AXES(3, 5), false);
}

const struct onnx_op onnx_sampling[] = {
	{ "GridSample", .run = grid_sample },
	{ "RoiAlign", .run = roi_align },
	{ .name = NULL },
};
