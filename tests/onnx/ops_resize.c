/* Resampling: along each axis in turn, by the matrix of the weights that the definition gives to the elements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

enum { TAPS = 4 };

struct resample {
	const char *mode, *where, *nearest;
	double cubic; /* its coefficient */
	bool exclude;
	double beyond;     /* tf_crop_and_resize: what lies outside */
	double start, end; /* and what is cut out */
};

/* Where place i of n is among `from`, of which it is `scale` times as long. */
static double source(const struct resample *r, int64_t i, int64_t n, int64_t from, double scale)
{
	if (strcmp(r->where, "align_corners") == 0)
		/* of the length that the scale says, whole or not */
		return scale * (double)from != 1 ? (double)i * (double)(from - 1) / (scale * (double)from - 1) : 0;
	if (strcmp(r->where, "half_pixel_symmetric") == 0)
		return (double)from / 2 * (1 - (double)n / (scale * (double)from)) + ((double)i + 0.5) / scale - 0.5;
	if (strcmp(r->where, "asymmetric") == 0)
		return (double)i / scale;
	if (strcmp(r->where, "tf_half_pixel_for_nn") == 0)
		return ((double)i + 0.5) / scale;
	if (strcmp(r->where, "pytorch_half_pixel") == 0 && n <= 1)
		return 0;
	if (strcmp(r->where, "tf_crop_and_resize") == 0)
		return n > 1 ? r->start * (double)(from - 1) +
				   (double)i * (r->end - r->start) * (double)(from - 1) / (double)(n - 1)
			     : 0.5 * (r->start + r->end) * (double)(from - 1);
	return ((double)i + 0.5) / scale - 0.5;
}

static double cubic(double t, double a)
{
	t = fabs(t);
	if (t <= 1)
		return ((a + 2) * t - (a + 3)) * t * t + 1;
	return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/* Weights of the elements from *first on, for what lies at x. */
static int weights(const struct resample *r, double x, int64_t *first, double w[TAPS])
{
	if (strcmp(r->mode, "nearest") == 0) {
		double at = strcmp(r->nearest, "floor") == 0               ? floor(x)
			    : strcmp(r->nearest, "ceil") == 0              ? ceil(x)
			    : strcmp(r->nearest, "round_prefer_ceil") == 0 ? floor(x + 0.5)
									   : ceil(x - 0.5);
		*first = (int64_t)at;
		w[0] = 1;
		return 1;
	}
	double low = floor(x);
	if (strcmp(r->mode, "linear") == 0) {
		*first = (int64_t)low;
		w[1] = x - low;
		w[0] = 1 - w[1];
		return 2;
	}
	*first = (int64_t)low - 1;
	for (int k = 0; k < TAPS; k++)
		w[k] = cubic(x - (low - 1 + k), r->cubic);
	return TAPS;
}

static lb_tensor *along(lb_tensor *x, int axis, int64_t n, double scale, const struct resample *r)
{
	int64_t from = lb_dim(x, axis);
	float *matrix = calloc((size_t)(n * from), sizeof *matrix), *fill = calloc((size_t)n, sizeof *fill);
	for (int64_t i = 0; matrix && fill && i < n; i++) {
		double w[TAPS], at = source(r, i, n, from, scale), sum = 0;
		int64_t first;
		if (strcmp(r->where, "tf_crop_and_resize") == 0 && (at < 0 || at > (double)(from - 1))) {
			fill[i] = 1;
			continue;
		}
		int taps = weights(r, at, &first, w);
		for (int k = 0; k < taps; k++) {
			if (r->exclude && (first + k < 0 || first + k >= from))
				w[k] = 0;
			sum += w[k];
		}
		for (int k = 0; k < taps; k++) {
			int64_t j = first + k < 0 ? 0 : first + k >= from ? from - 1 : first + k;
			matrix[i * from + j] += (float)(w[k] / sum);
		}
	}
	lb_tensor *m = lb_from_data(matrix, (size_t)(n * from) * sizeof *matrix, LB_SHAPE(n, from), LB_F32);
	lb_tensor *outside = lb_from_data(fill, (size_t)n * sizeof *fill, LB_SHAPE(n), LB_F32);
	free(matrix);
	free(fill);
	lb_tensor *moved = lb_moveaxis(x, axis, -1);
	lb_tensor *y = lb_matmul(lb_expand_dims(moved, LB_AXES(-2)), lb_transpose(m, LB_ALL_AXES));
	y = lb_where(outside, lb_scalar(r->beyond), lb_squeeze(y, LB_AXES(-2)));
	return lb_moveaxis(y, -1, axis);
}

/* The n numbers that input i holds; false if it has others, or none. */
static bool read_numbers(struct onnx_call *c, int i, int n, double *to)
{
	if (!c->in[i] || lb_size(c->in[i]) != n)
		return false;
	lb_tensor *all = lb_astype(c->in[i], LB_F64);
	for (int k = 0; k < n; k++)
		to[k] = lb_item(lb_slice(all, LB_AT(k)));
	return true;
}

/* Sizes as they are asked for, or all by one scale, the least or the largest. */
static void keep_ratio(const char *policy, int n, const double *from, double *sizes, double *scales)
{
	double scale = scales[0];
	bool least = strcmp(policy, "not_larger") == 0;
	if (strcmp(policy, "stretch") == 0)
		return;
	for (int k = 1; k < n; k++)
		scale = least == (scales[k] < scale) ? scales[k] : scale;
	for (int k = 0; k < n; k++) {
		scales[k] = scale;
		sizes[k] = floor(scale * from[k] + 0.5);
	}
}

static lb_tensor *resized(struct onnx_call *c, int scales_at, const struct resample *options)
{
	lb_tensor *x = lb_astype(c->in[0], LB_F32);
	struct resample r = *options;
	int rank = lb_rank(x);
	lb_list listed = onnx_ints(c, "axes");
	int n = listed.n < 0 ? rank : listed.n;
	double scales[LB_MAX_RANK], sizes[LB_MAX_RANK], from[LB_MAX_RANK], region[2 * LB_MAX_RANK];
	bool scaled = read_numbers(c, scales_at, n, scales), crops = strcmp(r.where, "tf_crop_and_resize") == 0;
	const char *policy = onnx_text(c, "keep_aspect_ratio_policy", "stretch");
	if ((!scaled && !read_numbers(c, scales_at + 1, n, sizes)) || (crops && !read_numbers(c, 1, 2 * n, region)))
		return onnx_refuse(c, "Resize without sizes");
	for (int k = 0; k < n; k++) {
		from[k] = (double)lb_dim(x, onnx_axis(listed.n < 0 ? k : listed.v[k], rank));
		if (scaled)
			sizes[k] = floor(from[k] * scales[k] + 1e-9);
		else
			scales[k] = sizes[k] / from[k];
	}
	if (!scaled)
		keep_ratio(policy, n, from, sizes, scales);
	for (int k = 0; k < n && x; k++) {
		r.start = crops ? region[k] : 0;
		r.end = crops ? region[n + k] : 1;
		if (sizes[k] != from[k] || (crops && (r.start != 0 || r.end != 1)))
			x = along(x, onnx_axis(listed.n < 0 ? k : listed.v[k], rank), (int64_t)sizes[k], scales[k], &r);
	}
	return lb_astype(x, lb_dtype_of(c->in[0]));
}

static lb_tensor *resize(struct onnx_call *c)
{
	if (onnx_int(c, "antialias", 0))
		return onnx_refuse(c, "attribute Resize.antialias");
	struct resample r = { .mode = onnx_text(c, "mode", "nearest"),
			      .where = onnx_text(c, "coordinate_transformation_mode", "half_pixel"),
			      .nearest = onnx_text(c, "nearest_mode", "round_prefer_floor"),
			      .cubic = onnx_float(c, "cubic_coeff_a", -0.75),
			      .exclude = onnx_int(c, "exclude_outside", 0),
			      .beyond = onnx_float(c, "extrapolation_value", 0) };
	return resized(c, 2, &r);
}

static lb_tensor *upsample(struct onnx_call *c)
{
	struct resample r = { .mode = onnx_text(c, "mode", "nearest"), .where = "asymmetric", .nearest = "floor" };
	return resized(c, 1, &r);
}

const struct onnx_op onnx_resize[] = {
	{ "Resize", .run = resize },
	{ "Upsample", .run = upsample },
	{ .name = NULL },
};
