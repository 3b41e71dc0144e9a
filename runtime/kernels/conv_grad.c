/* The gradients of a convolution, as matrix products of blocks of output pixels; see conv.c.
 *
 * Of x: grad @ weights are rows as im2col makes them, which are added back to where they came from
 * ("col2im"). The tasks of that are the rows of x, so no two write to one place.
 * Of the weights: grad^T @ rows. Halves are summed in float, over all blocks. */
#include "kernels/conv.h"
#include "kernels/row.h"
#include "kernels/share.h"

enum { BLOCK = 16 << 20, PIECES = 64, PIECE = 1 << 10 };

struct gradient {
	struct lb_conv_job j;
	const struct lb_view *grad;
	char *panel, *sums;   /* grad's rows of the block; of x or the weights */
	int64_t n, first_row; /* pixels of the block; the first row of x that it touches */
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* n of grad's elements at `pixel` in the stage's dtype. */
static const void *grad_of(const struct gradient *g, int64_t pixel, int64_t first, int64_t n, void *room)
{
	const struct lb_conv *c = g->j.c;
	const int64_t *s = g->grad->strides;
	int64_t at = pixel / c->out[1] / c->out[0] * s[0] + pixel / c->out[1] % c->out[0] * s[1] +
		     pixel % c->out[1] * s[2] + first * s[3];
	return lb_row_in(g->j.tiles, g->grad->dtype, (const char *)g->grad->data + at * g->j.bytes, n, s[3], room);
}

static void fill_panel(void *arg, int64_t begin, int64_t end)
{
	const struct gradient *g = arg;
	int64_t n = g->j.outputs, row_bytes = n * g->j.width;
	for (int64_t i = begin; i < end; i++) {
		char *to = g->panel + i * row_bytes;
		const void *row = grad_of(g, g->j.first + i, g->j.group * n, n, to);
		if (row != to)
			memcpy(to, row, (size_t)row_bytes);
	}
}

static struct lb_view matrix(const struct gradient *g, void *data, int64_t rows, int64_t columns, bool turned)
{
	return (struct lb_view){ .data = data,
				 .dtype = (enum lb_dtype)g->j.stage,
				 .rank = 2,
				 .shape = { turned ? columns : rows, turned ? rows : columns },
				 .strides = { turned ? 1 : columns, turned ? columns : 1 } };
}

static bool take_blocks(struct gradient *g, int64_t *ret_block)
{
	struct lb_conv_job *j = &g->j;
	struct lb_exec *exec = j->exec;
	int64_t block = least(BLOCK / ((j->taps + j->outputs) * j->width + 1) + 1, j->pixels);
	j->weights = exec->scratch(exec, lb_bytes_of(j->outputs, j->taps, j->width));
	j->rows = j->weights ? exec->scratch(exec, lb_bytes_of(block, j->taps, j->width)) : NULL;
	g->panel = j->rows ? exec->scratch(exec, lb_bytes_of(block, j->outputs, j->width)) : NULL;
	*ret_block = block;
	return g->panel != NULL;
}

static void narrow(void *arg, int64_t begin, int64_t end)
{
	const struct gradient *g = arg;
	g->j.tiles->convert(g->j.c->x.dtype, g->j.stage)(end - begin, g->j.to + begin * g->j.bytes,
							 g->sums + begin * g->j.width, NULL, NULL);
}

/* Sums of n elements in the stage's dtype, 0 at first: the result's memory if it has that. */
static bool begin_sums(struct gradient *g, int64_t n)
{
	bool dense = g->j.stage == (int)g->j.c->x.dtype;
	g->sums = dense ? g->j.to : g->j.exec->scratch(g->j.exec, n * g->j.width);
	if (g->sums)
		memset(g->sums, 0, (size_t)(n * g->j.width));
	return g->sums != NULL;
}

static void finish_sums(struct gradient *g, int64_t n)
{
	if (g->sums != g->j.to)
		lb_parallel(g->j.exec, n, LB_CONV_GRAIN, narrow, g);
}

/* ---- of x ---- */

static void add_row(int stage, int64_t n, void *to, const void *from)
{
	if (stage == LB_F64)
		for (int64_t i = 0; i < n; i++)
			((double *)to)[i] += ((const double *)from)[i];
	else
		for (int64_t i = 0; i < n; i++)
			((float *)to)[i] += ((const float *)from)[i];
}

/* The output row whose tap r meets row h of x, or -1. */
static int64_t output_row(const struct lb_conv *c, int64_t h, int64_t r)
{
	int64_t at = h + c->padding[0] - r * c->dilation[0];
	return at >= 0 && at % c->stride[0] == 0 && at / c->stride[0] < c->out[0] ? at / c->stride[0] : -1;
}

/* Rows of x (numbered over all images): what the block's pixels have for them. */
static void add_back(void *arg, int64_t begin, int64_t end)
{
	const struct gradient *g = arg;
	const struct lb_conv_job *j = &g->j;
	const struct lb_conv *c = j->c;
	int64_t height = c->x.shape[1], width = c->x.shape[2], part = j->channels * j->width;
	for (int64_t row = g->first_row + begin; row < g->first_row + end; row++)
		for (int64_t r = 0; r < c->w.shape[1]; r++) {
			int64_t o = output_row(c, row % height, r);
			int64_t pixel = (row / height * c->out[0] + o) * c->out[1] - j->first;
			for (int64_t i = 0; o >= 0 && i < c->out[1]; i++) {
				if (pixel + i < 0 || pixel + i >= g->n)
					continue;
				const char *from =
				    j->rows + (pixel + i) * j->taps * j->width + r * c->w.shape[2] * part;
				for (int64_t s = 0; s < c->w.shape[2]; s++, from += part) {
					int64_t w = i * c->stride[1] + s * c->dilation[1] - c->padding[1];
					if (w < 0 || w >= width)
						continue;
					int64_t at = (row * width + w) * c->x.shape[3] + j->group * j->channels;
					add_row(j->stage, j->channels, g->sums + at * j->width, from);
				}
			}
		}
}

/* Which rows of x the block may touch. */
static int64_t find_rows(struct gradient *g)
{
	const struct lb_conv *c = g->j.c;
	int64_t height = c->x.shape[1], ends[2] = { g->j.first, g->j.first + g->n - 1 }, rows[2];
	for (int i = 0; i < 2; i++) {
		int64_t image = ends[i] / c->out[1] / c->out[0];
		int64_t h = ends[i] / c->out[1] % c->out[0] * c->stride[0] - c->padding[0];
		h += i ? (c->w.shape[1] - 1) * c->dilation[0] : 0;
		rows[i] = image * height + (h < 0 ? 0 : h >= height ? height - 1 : h);
	}
	g->first_row = rows[0];
	return rows[1] - rows[0] + 1;
}

static void depthwise_row(void *arg, void *scratch, int64_t row)
{
	const struct gradient *g = arg;
	const struct lb_conv_job *j = &g->j;
	const struct lb_conv *c = j->c;
	int64_t height = c->x.shape[1], width = c->x.shape[2], n = c->groups;
	for (int64_t r = 0; r < c->w.shape[1]; r++) {
		int64_t o = output_row(c, row % height, r);
		for (int64_t i = 0; o >= 0 && i < c->out[1]; i++) {
			int64_t pixel = (row / height * c->out[0] + o) * c->out[1] + i;
			const void *grad = grad_of(g, pixel, 0, n, scratch);
			for (int64_t s = 0; s < c->w.shape[2]; s++) {
				int64_t w = i * c->stride[1] + s * c->dilation[1] - c->padding[1];
				if (w < 0 || w >= width)
					continue;
				const char *weights = j->weights + (r * c->w.shape[2] + s) * n * j->width;
				char *sums = g->sums + (row * width + w) * n * j->width;
				lb_conv_add_products(j->stage, n, sums, grad, weights);
			}
		}
	}
}

bool lb_kernel_conv2d_input_grad(struct lb_exec *exec, const struct lb_conv *c, const struct lb_view *grad, void *to)
{
	struct gradient g = { .grad = grad };
	struct lb_conv_job *j = &g.j;
	int64_t size = lb_shape_size(4, c->x.shape), block;
	if (!lb_conv_begin(exec, c, to, j) || (size && !begin_sums(&g, size)))
		return false;
	if (size == 0)
		return true;
	if (j->is_depthwise) {
		j->weights = lb_conv_depthwise_weights(j);
		if (!j->weights ||
		    !lb_share(exec, c->x.shape[0] * c->x.shape[1], 1, c->groups * j->width, depthwise_row, &g))
			return false;
		finish_sums(&g, size);
		return true;
	}
	if (j->outputs && !take_blocks(&g, &block))
		return false;
	for (j->group = 0; j->outputs && j->group < c->groups; j->group++) {
		lb_conv_load_weights(j);
		for (j->first = 0; j->first < j->pixels; j->first += block) {
			g.n = least(block, j->pixels - j->first);
			lb_parallel(exec, g.n, LB_CONV_GRAIN / (j->outputs + 1) + 1, fill_panel, &g);
			struct lb_view a = matrix(&g, g.panel, g.n, j->outputs, false);
			struct lb_view b = matrix(&g, j->weights, j->outputs, j->taps, false);
			if (!lb_kernel_matmul(exec, &a, &b, NULL, 1, 0, j->rows))
				return false;
			lb_parallel(exec, find_rows(&g), 1, add_back, &g);
		}
	}
	finish_sums(&g, size);
	return true;
}

/* ---- of the weights ---- */

struct sum {
	int stage;
	char *to, *from;
};

static void add_range(void *arg, int64_t begin, int64_t end)
{
	const struct sum *sum = arg;
	int64_t at = begin * lb_width_of(sum->stage);
	add_row(sum->stage, end - begin, sum->to + at, sum->from + at);
}

/* (taps, groups) of a piece of the pixels. */
static void depthwise_piece(void *arg, void *scratch, int64_t piece)
{
	const struct gradient *g = arg;
	const struct lb_conv_job *j = &g->j;
	const struct lb_conv *c = j->c;
	int64_t n = c->groups, last = least((piece + 1) * g->n, j->pixels);
	char *room = (char *)scratch + n * j->width, *sums = j->rows + piece * j->taps * n * j->width;
	memset(sums, 0, (size_t)(j->taps * n * j->width));
	for (int64_t pixel = piece * g->n; pixel < last; pixel++) {
		const void *grad = grad_of(g, pixel, 0, n, scratch);
		for (int64_t r = 0; r < c->w.shape[1]; r++)
			for (int64_t s = 0; s < c->w.shape[2]; s++) {
				const char *from = lb_conv_tap(j, pixel, r, s);
				if (!from)
					continue;
				const void *x = lb_row_in(j->tiles, c->x.dtype, from, n, c->x.strides[3], room);
				char *to = sums + (r * c->w.shape[2] + s) * n * j->width;
				lb_conv_add_products(j->stage, n, to, x, grad);
			}
	}
}

static bool depthwise_weights(struct gradient *g)
{
	struct lb_conv_job *j = &g->j;
	int64_t n = j->c->groups, size = j->taps * n;
	int64_t pieces = least(j->pixels / PIECE + 1, PIECES);
	g->n = (j->pixels + pieces - 1) / pieces;
	j->rows = j->exec->scratch(j->exec, lb_bytes_of(pieces, size, j->width));
	if (!j->rows || !lb_share(j->exec, pieces, 1, lb_bytes_of(2, n, j->width), depthwise_piece, g))
		return false;
	for (int64_t i = 1; i < pieces; i++)
		add_row(j->stage, size, j->rows, j->rows + i * size * j->width);
	/* (taps, groups) turned */
	struct lb_view from = matrix(g, j->rows, j->taps, n, true), to = matrix(g, g->sums, n, j->taps, false);
	return lb_kernel_copy(j->exec, &to, &from);
}

static bool weight_blocks(struct gradient *g)
{
	struct lb_conv_job *j = &g->j;
	int64_t block, size = j->outputs * j->taps;
	if (!take_blocks(g, &block))
		return false;
	for (j->group = 0; j->group < j->c->groups; j->group++)
		for (j->first = 0; j->first < j->pixels; j->first += block) {
			g->n = least(block, j->pixels - j->first);
			lb_parallel(j->exec, g->n, LB_CONV_GRAIN / (j->outputs + 1) + 1, fill_panel, g);
			lb_parallel(j->exec, g->n, LB_CONV_GRAIN / (j->taps + 1) + 1, lb_conv_fill_rows, j);
			struct lb_view a = matrix(g, g->panel, g->n, j->outputs, true);
			struct lb_view b = matrix(g, j->rows, g->n, j->taps, false);
			struct sum sum = { j->stage, g->sums + j->group * size * j->width, j->weights };
			if (!lb_kernel_matmul(j->exec, &a, &b, NULL, 1, 0, j->first ? sum.from : sum.to))
				return false;
			if (j->first)
				lb_parallel(j->exec, size, LB_CONV_GRAIN, add_range, &sum);
		}
	return true;
}

bool lb_kernel_conv2d_weight_grad(struct lb_exec *exec, const struct lb_conv *c, const struct lb_view *grad, void *to)
{
	struct gradient g = { .grad = grad };
	int64_t size = lb_shape_size(4, c->w.shape);
	if (!lb_conv_begin(exec, c, to, &g.j) || (size && !begin_sums(&g, size)))
		return false;
	if (size == 0)
		return true;
	if (g.j.pixels && !(g.j.is_depthwise ? depthwise_weights(&g) : weight_blocks(&g)))
		return false;
	finish_sums(&g, size);
	return true;
}
