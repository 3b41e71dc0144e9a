#include "inspect/draw/raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { PIECE = 1 << 15 };

/* Where row, column and channel stand in the row-major index. */
struct layout {
	int64_t rows, columns, channels;
	int64_t row_step, column_step, channel_step;
};

struct walk {
	const struct layout *layout;
	struct lbx_raster *raster;
	int64_t *counts; /* of finite elements, by pixel and channel */
	enum lb_dtype dtype;
};

static bool may_be_channels(int64_t n)
{
	return n == 1 || n == 3 || n == 4;
}

/* Without an axis of channels: rows and columns alone. */
static bool find_channels(const struct lbx_array *a, enum lbx_channels channels, enum lbx_channels *ret)
{
	const int64_t *shape = a->shape;
	bool two = a->rank == 2 && channels <= LBX_CHANNELS_NONE;

	if (!two && a->rank != 3)
		return lb_fail("a picture has two axes, or three with channels first or last, not %d: "
			       "select some, as in x[0, 0]",
			       a->rank);
	*ret = LBX_CHANNELS_NONE;
	if (two)
		return true;
	if (channels == LBX_CHANNELS_GUESS)
		channels = may_be_channels(shape[2]) ? LBX_CHANNELS_LAST : LBX_CHANNELS_FIRST;
	bool last = channels == LBX_CHANNELS_LAST;
	int64_t n = shape[last ? 2 : 0];
	if (channels == LBX_CHANNELS_NONE || !may_be_channels(n))
		return lb_fail("(%lld, %lld, %lld) is not a picture: an axis of 1, 3 or 4 channels comes "
			       "first or last; or select two axes, as in x[0]",
			       (long long)shape[0], (long long)shape[1], (long long)shape[2]);
	*ret = channels;
	return true;
}

static struct layout layout_of(const int64_t *shape, enum lbx_channels channels)
{
	if (channels == LBX_CHANNELS_NONE)
		return (struct layout){ shape[0], shape[1], 1, shape[1], 1, 0 };
	if (channels == LBX_CHANNELS_LAST)
		return (struct layout){ shape[0], shape[1], shape[2], shape[1] * shape[2], shape[2], 1 };
	return (struct layout){ shape[1], shape[2], shape[0], shape[2], 1, shape[1] * shape[2] };
}

static bool add_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	const struct walk *w = context;
	const struct layout *l = w->layout;
	struct lbx_raster *r = w->raster;
	int64_t bytes = lbx_dtype_bytes(w->dtype);

	for (int64_t i = 0; i < n; i++) {
		int64_t at = first + i, channel = l->channel_step ? at / l->channel_step % l->channels : 0;
		int64_t row = at / l->row_step % l->rows, column = at / l->column_step % l->columns;
		int y = (int)(row * r->height / l->rows), x = (int)(column * r->width / l->columns);
		int64_t pixel = (int64_t)y * r->width + x, place = pixel * r->channels + channel;
		double value = lbx_element_magnitude((const char *)elements + i * bytes, w->dtype);
		if (!isfinite(value)) {
			r->nan[pixel] = true;
			r->not_finite++;
			continue;
		}
		if (r->finite == 0 || value < r->low)
			r->low = value;
		if (r->finite == 0 || value > r->high)
			r->high = value;
		r->finite++;
		w->counts[place]++;
		r->values[place] += (value - r->values[place]) / (double)w->counts[place];
	}
	return true;
}

/* What stands at the first place of an axis that repeats it, to all its places. */
static void spread(struct walk *w, const struct layout *whole)
{
	struct lbx_raster *r = w->raster;
	int64_t one_row = w->layout->rows < whole->rows, one_column = w->layout->columns < whole->columns;
	int64_t one_channel = w->layout->channels < whole->channels, n = r->channels;

	for (int64_t y = 0; y < r->height; y++) {
		for (int64_t x = 0; x < r->width; x++) {
			int64_t to = y * r->width + x, from = (one_row ? 0 : to - x) + (one_column ? 0 : x);
			r->nan[to] = r->nan[from];
			for (int64_t k = 0; k < n; k++) {
				r->values[to * n + k] = r->values[from * n + (one_channel ? 0 : k)];
				w->counts[to * n + k] = w->counts[from * n + (one_channel ? 0 : k)];
			}
		}
	}
}

/* Repeats the elements of a small picture, `zoom` times along each axis. */
static bool enlarge(struct lbx_raster *r, int zoom)
{
	int width = r->width * zoom, height = r->height * zoom, channels = r->channels;
	double *values = malloc((size_t)width * (size_t)height * (size_t)channels * sizeof *values);
	bool *nan = malloc((size_t)width * (size_t)height * sizeof *nan);

	if (!values || !nan) {
		free(values);
		free(nan);
		return lb_fail("out of memory for a picture of %d x %d", width, height);
	}
	for (int y = 0; y < height; y++) {
		for (int x = 0; x < width; x++) {
			size_t from = (size_t)(y / zoom) * (size_t)r->width + (size_t)(x / zoom);
			size_t to = (size_t)y * (size_t)width + (size_t)x;
			nan[to] = r->nan[from];
			memcpy(values + to * (size_t)channels, r->values + from * (size_t)channels,
			       (size_t)channels * sizeof *values);
		}
	}
	free(r->values);
	free(r->nan);
	r->values = values;
	r->nan = nan;
	r->width = width;
	r->height = height;
	return true;
}

static bool allocate(struct walk *w)
{
	struct lbx_raster *r = w->raster;
	size_t pixels = (size_t)r->width * (size_t)r->height, places = pixels * (size_t)r->channels;

	r->values = calloc(places, sizeof *r->values);
	r->nan = calloc(pixels, sizeof *r->nan);
	w->counts = calloc(places, sizeof *w->counts);
	return (r->values && r->nan && w->counts) ||
	       lb_fail("out of memory for a picture of %d x %d", r->width, r->height);
}

/* The largest scale (at most 1) at which the array fits, the same along both axes unless it may be stretched. */
static void fit(const struct layout *l, int max_width, int max_height, bool stretched, struct lbx_raster *ret)
{
	double along = fmin(1, (double)max_width / (double)l->columns);
	double down = fmin(1, (double)max_height / (double)l->rows), both = fmin(along, down);

	ret->width = (int)fmax(1, fmin(max_width, (double)l->columns * (stretched ? along : both)));
	ret->height = (int)fmax(1, fmin(max_height, (double)l->rows * (stretched ? down : both)));
}

bool lbx_raster_create(const struct lbx_array *array, enum lbx_channels channels, int max_width, int max_height,
		       int zoom, struct lbx_out *out, struct lbx_raster *ret)
{
	struct lbx_array unique = *array;
	int64_t times = lbx_array_drop_repeats(&unique);

	*ret = (struct lbx_raster){ 0 };
	if (!find_channels(array, channels, &channels))
		return false;
	if (array->size == 0)
		return lb_fail("it has no elements to draw");
	struct layout layout = layout_of(array->shape, channels), once = layout_of(unique.shape, channels);
	ret->rows = layout.rows;
	ret->columns = layout.columns;
	ret->channels = (int)layout.channels;
	fit(&layout, max_width, max_height, zoom == 0, ret);
	struct walk w = { .layout = &once, .raster = ret, .dtype = array->dtype };
	bool ok = allocate(&w) && lbx_array_walk(&unique, out, "drawing", PIECE, add_piece, &w);
	ret->finite *= times;
	ret->not_finite *= times;
	if (ok && times > 1)
		spread(&w, &layout);
	for (int64_t i = 0; ok && i < (int64_t)ret->width * ret->height * ret->channels; i++)
		if (w.counts[i] == 0)
			ret->values[i] = NAN;
	free(w.counts);
	while (zoom > 1 && (ret->width * zoom > max_width || ret->height * zoom > max_height))
		zoom--;
	if (ok && zoom > 1 && ret->width == layout.columns && ret->height == layout.rows)
		ok = enlarge(ret, zoom);
	if (!ok)
		lbx_raster_deinit(ret);
	return ok;
}

void lbx_raster_deinit(struct lbx_raster *raster)
{
	free(raster->values);
	free(raster->nan);
	raster->values = NULL;
	raster->nan = NULL;
}

/* Matplotlib's viridis (Nathaniel Smith, Stéfan van der Walt, CC0), as the polynomial of degree 6
 * that Matt Zucker fitted to it (public domain). */
void lbx_viridis(double t, unsigned char ret[3])
{
	static const double c[7][3] = {
		{ 0.2777273272234177, 0.005407344544966578, 0.3340998053353061 },
		{ 0.1050930431085774, 1.404613529898575, 1.384590162594685 },
		{ -0.3308618287255563, 0.214847559468213, 0.09509516302823659 },
		{ -4.634230498983486, -5.799100973351585, -19.33244095627987 },
		{ 6.228269936347081, 14.17993336680509, 56.69055260068105 },
		{ 4.776384997670288, -13.74514537774601, -65.35303263337234 },
		{ -5.435455855934631, 4.645852612178535, 26.3124352495832 },
	};

	for (int k = 0; k < 3; k++) {
		double v = c[6][k];
		for (int i = 5; i >= 0; i--)
			v = v * t + c[i][k];
		ret[k] = (unsigned char)(fmax(0, fmin(1, v)) * 255 + 0.5);
	}
}

int lbx_colour_of_256(const unsigned char c[3])
{
	static const int steps[] = { 0, 95, 135, 175, 215, 255 };
	int index = 16;

	for (int k = 0; k < 3; k++) {
		int best = 0;
		for (int i = 1; i < 6; i++)
			if (abs(steps[i] - c[k]) < abs(steps[best] - c[k]))
				best = i;
		index += best * (k == 0 ? 36 : k == 1 ? 6 : 1);
	}
	return index;
}

void lbx_raster_colour(const struct lbx_raster *r, int x, int y, double low, double high, unsigned char ret[4])
{
	int64_t pixel = (int64_t)y * r->width + x;
	const double *values = r->values + pixel * r->channels;
	double t[4] = { 0 };

	ret[0] = ret[2] = ret[3] = 255;
	ret[1] = 0;
	if (r->nan[pixel])
		return;
	for (int k = 0; k < r->channels; k++) {
		double part = high > low ? (values[k] / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
		t[k] = fmax(0, fmin(1, part));
	}
	if (r->channels == 1) {
		lbx_viridis(t[0], ret);
		return;
	}
	for (int k = 0; k < r->channels; k++)
		ret[k] = (unsigned char)(t[k] * 255 + 0.5);
}
