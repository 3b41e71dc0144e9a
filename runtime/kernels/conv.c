/* Convolution as a matrix product: the taps that an output sees become a row of a matrix ("im2col"),
 * whose product with the weights is the output. The matrix is made and multiplied a block of rows
 * at a time, so that it never takes more than BLOCK bytes (or one row). Halves become floats on the way.
 *
 * A group of one channel and one output (a depthwise convolution) would be products of one column;
 * there all groups go side by side instead, as vectors of channels. */
#include "kernels/conv.h"
#include "kernels/row.h"
#include "kernels/share.h"

enum { BLOCK = 4 << 20 };

const char *lb_conv_tap(const struct lb_conv_job *j, int64_t pixel, int64_t r, int64_t s)
{
	const struct lb_conv *c = j->c;
	int64_t column = pixel % c->out[1], row = pixel / c->out[1] % c->out[0];
	int64_t image = pixel / c->out[1] / c->out[0];
	int64_t h = row * c->stride[0] + r * c->dilation[0] - c->padding[0];
	int64_t w = column * c->stride[1] + s * c->dilation[1] - c->padding[1];
	if (h < 0 || h >= c->x.shape[1] || w < 0 || w >= c->x.shape[2])
		return NULL;
	const int64_t *strides = c->x.strides;
	return (const char *)c->x.data + (image * strides[0] + h * strides[1] + w * strides[2]) * j->bytes;
}

/* n elements as the stage's dtype, at `to` in any case. */
static void load_at(const struct lb_conv_job *j, int dtype, const char *from, int64_t n, int64_t stride, char *to)
{
	const void *row = lb_row_in(j->tiles, dtype, from, n, stride, to);
	if (row != to)
		memcpy(to, row, (size_t)(n * j->width));
}

/* ---- products ---- */

void lb_conv_fill_rows(void *arg, int64_t begin, int64_t end)
{
	const struct lb_conv_job *j = arg;
	const struct lb_conv *c = j->c;
	int64_t part = j->channels * j->width;
	for (int64_t i = begin; i < end; i++) {
		char *to = j->rows + i * j->taps * j->width;
		for (int64_t r = 0; r < c->w.shape[1]; r++)
			for (int64_t s = 0; s < c->w.shape[2]; s++, to += part) {
				const char *from = lb_conv_tap(j, j->first + i, r, s);
				if (!from)
					memset(to, 0, (size_t)part);
				else
					load_at(j, c->x.dtype,
						from + j->group * j->channels * c->x.strides[3] * j->bytes, j->channels,
						c->x.strides[3], to);
			}
	}
}

/* Rows of products, to their place among the outputs of all groups. */
static void place_rows(void *arg, int64_t begin, int64_t end)
{
	const struct lb_conv_job *j = arg;
	for (int64_t i = begin; i < end; i++) {
		char *to = j->to + ((j->first + i) * j->c->w.shape[0] + j->group * j->outputs) * j->bytes;
		const char *from = j->products + i * j->outputs * j->width;
		j->tiles->convert(j->c->x.dtype, j->stage)(j->outputs, to, from, NULL, NULL);
	}
}

void lb_conv_load_weights(const struct lb_conv_job *j)
{
	const struct lb_view *w = &j->c->w;
	char *to = j->weights;
	for (int64_t o = j->group * j->outputs; o < (j->group + 1) * j->outputs; o++)
		for (int64_t r = 0; r < w->shape[1]; r++)
			for (int64_t s = 0; s < w->shape[2]; s++, to += j->channels * j->width)
				load_at(j, w->dtype,
					(const char *)w->data +
					    (o * w->strides[0] + r * w->strides[1] + s * w->strides[2]) * j->bytes,
					j->channels, w->strides[3], to);
}

static bool multiply_blocks(struct lb_conv_job *j, int64_t pixels)
{
	int64_t block = BLOCK / ((j->taps + j->outputs) * j->width + 1) + 1;
	block = block < pixels ? block : pixels;
	bool dense_to = j->c->groups == 1 && (int)j->c->x.dtype == j->stage;
	j->weights = j->exec->scratch(j->exec, lb_bytes_of(j->outputs, j->taps, j->width));
	j->rows = j->weights ? j->exec->scratch(j->exec, lb_bytes_of(block, j->taps, j->width)) : NULL;
	j->products = !j->rows || dense_to ? NULL : j->exec->scratch(j->exec, lb_bytes_of(block, j->outputs, j->width));
	if (!j->rows || (!j->products && !dense_to))
		return false;
	for (j->group = 0; j->group < j->c->groups; j->group++) {
		lb_conv_load_weights(j);
		for (j->first = 0; j->first < pixels; j->first += block) {
			int64_t n = pixels - j->first < block ? pixels - j->first : block;
			lb_parallel(j->exec, n, LB_CONV_GRAIN / (j->taps + 1) + 1, lb_conv_fill_rows, j);
			enum lb_dtype stage = (enum lb_dtype)j->stage;
			struct lb_view a = { .data = j->rows,
					     .dtype = stage,
					     .rank = 2,
					     .shape = { n, j->taps },
					     .strides = { j->taps, 1 } };
			struct lb_view b = { .data = j->weights,
					     .dtype = stage,
					     .rank = 2,
					     .shape = { j->taps, j->outputs },
					     .strides = { 1, j->taps } };
			void *to = dense_to ? j->to + j->first * j->outputs * j->width : j->products;
			if (!lb_kernel_matmul(j->exec, &a, &b, NULL, 1, 0, to))
				return false;
			if (!dense_to)
				lb_parallel(j->exec, n, LB_CONV_GRAIN / (j->outputs + 1) + 1, place_rows, j);
		}
	}
	return true;
}

/* ---- depthwise ---- */

#define ADD_PRODUCTS(T) \
	for (int64_t i = 0; i < n; i++) \
	((T *)sums)[i] += ((const T *)x)[i] * ((const T *)w)[i]

void lb_conv_add_products(int stage, int64_t n, void *sums, const void *x, const void *w)
{
	if (stage == LB_F64)
		ADD_PRODUCTS(double);
	else
		ADD_PRODUCTS(float);
}

static void depthwise_pixel(void *arg, void *scratch, int64_t pixel)
{
	const struct lb_conv_job *j = arg;
	const struct lb_conv *c = j->c;
	int64_t n = c->groups;
	char *sums = scratch, *row = sums + n * j->width;
	memset(sums, 0, (size_t)(n * j->width));
	for (int64_t r = 0; r < c->w.shape[1]; r++)
		for (int64_t s = 0; s < c->w.shape[2]; s++) {
			const char *from = lb_conv_tap(j, pixel, r, s);
			if (!from)
				continue;
			const void *x = lb_row_in(j->tiles, c->x.dtype, from, n, c->x.strides[3], row);
			lb_conv_add_products(j->stage, n, sums, x, j->weights + (r * c->w.shape[2] + s) * n * j->width);
		}
	j->tiles->convert(c->x.dtype, j->stage)(n, j->to + pixel * n * j->bytes, sums, NULL, NULL);
}

char *lb_conv_depthwise_weights(const struct lb_conv_job *j)
{
	const struct lb_view *w = &j->c->w;
	int64_t n = j->c->groups;
	char *weights = j->exec->scratch(j->exec, lb_bytes_of(j->taps, n, j->width));
	for (int64_t r = 0; weights && r < w->shape[1]; r++)
		for (int64_t s = 0; s < w->shape[2]; s++)
			load_at(j, w->dtype, (const char *)w->data + (r * w->strides[1] + s * w->strides[2]) * j->bytes,
				n, w->strides[0], weights + (r * w->shape[2] + s) * n * j->width);
	return weights;
}

static bool depthwise(struct lb_conv_job *j, int64_t pixels)
{
	int64_t n = j->c->groups;
	j->weights = lb_conv_depthwise_weights(j);
	if (!j->weights)
		return false;
	return lb_share(j->exec, pixels, LB_CONV_GRAIN / (n * j->taps) + 1, lb_bytes_of(2, n, j->width),
			depthwise_pixel, j);
}

bool lb_conv_begin(struct lb_exec *exec, const struct lb_conv *c, void *to, struct lb_conv_job *ret)
{
	if (!lb_dtype_is_float(c->x.dtype) || c->x.dtype != c->w.dtype || c->groups < 1)
		return lb_fail("conv2d: not defined for %s and %s", lb_dtypes[c->x.dtype].name,
			       lb_dtypes[c->w.dtype].name);
	*ret = (struct lb_conv_job){
		.exec = exec,
		.tiles = lb_tiles(),
		.c = c,
		.stage = lb_stage_of(c->x.dtype),
		.bytes = lb_width_of(c->x.dtype),
		.width = lb_width_of(lb_stage_of(c->x.dtype)),
		.channels = c->w.shape[3],
		.outputs = c->w.shape[0] / c->groups,
		.to = to,
		.taps = c->w.shape[1] * c->w.shape[2] * c->w.shape[3],
		.pixels = c->x.shape[0] * c->out[0] * c->out[1],
	};
	ret->is_depthwise = ret->channels == 1 && ret->outputs == 1 && c->groups > 1;
	return true;
}

bool lb_kernel_conv2d(struct lb_exec *exec, const struct lb_conv *c, void *to)
{
	struct lb_conv_job job;
	if (!lb_conv_begin(exec, c, to, &job))
		return false;
	if (c->x.shape[0] == 0 || c->w.shape[0] == 0)
		return true;
	return job.is_depthwise ? depthwise(&job, job.pixels) : multiply_blocks(&job, job.pixels);
}
