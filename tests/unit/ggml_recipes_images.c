/* Windows over images and rows: convolutions, pools; sizes; the windows of vision transformers. */
#include <float.h>
#include <math.h>

#include "ggml_recipes.h"

enum { WIDTH = 9, HEIGHT = 7, CHANNELS = 3, IMAGES = 2, ACROSS = 3, DOWN = 2, RESULTS = 4 };

/* A direction: what follows from sizes, strides, paddings and dilations. */
struct way {
	int size, k, stride, padding, dilation;
};

static int count(const struct way *w)
{
	return (w->size + 2 * w->padding - w->dilation * (w->k - 1) - 1) / w->stride + 1;
}

/* Where element k of window i lies; -1: outside. */
static int64_t place(const struct way *w, int64_t i, int64_t k)
{
	int64_t at = i * w->stride + k * w->dilation - w->padding;

	return at >= 0 && at < w->size ? at : -1;
}

static double within(int x, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
	return i0 < 0 || i1 < 0 ? 0 : at(x, i0, i1, i2, i3);
}

static const struct way ways[][2] = {
	{ { WIDTH, ACROSS, 1, 0, 1 }, { HEIGHT, DOWN, 1, 0, 1 } },
	{ { WIDTH, ACROSS, 2, 1, 1 }, { HEIGHT, DOWN, 3, 1, 2 } },
	{ { WIDTH, ACROSS, 1, 2, 3 }, { HEIGHT, DOWN, 2, 0, 1 } },
};
enum { WAYS = sizeof ways / sizeof *ways };

#define WINDOWS(w) (w)[0].stride, (w)[1].stride, (w)[0].padding, (w)[1].padding, (w)[0].dilation, (w)[1].dilation

static void convolutions(const struct way *w)
{
	nodes_reset();
	int x = leaf(WIDTH, HEIGHT, CHANNELS, IMAGES), kernel = leaf(ACROSS, DOWN, CHANNELS, RESULTS),
	    own = leaf(ACROSS, DOWN, 1, CHANNELS);
	const int64_t columns = count(&w[0]), rows = count(&w[1]), ne[] = { columns, rows, RESULTS, IMAGES },
		      each[] = { columns, rows, CHANNELS, IMAGES },
		      unfolded[] = { CHANNELS * DOWN * ACROSS, columns, rows, IMAGES };

	EACH_OF(unfolded)
		want(within(x, place(&w[0], i1, i0 % ACROSS), place(&w[1], i2, i0 / ACROSS % DOWN),
			    i0 / (ACROSS * DOWN), i3));
	holds(&(struct node){ .op = "IM2COL",
			      .ne = { CHANNELS * DOWN * ACROSS, columns, rows, IMAGES },
			      .sources = { kernel, x },
			      .params = { WINDOWS(w), 1 } },
	      0);
	EACH_OF(ne) {
		double sum = 0;
		for (int64_t c = 0; c < CHANNELS; c++)
			for (int64_t b = 0; b < DOWN; b++)
				for (int64_t a = 0; a < ACROSS; a++)
					sum += at(kernel, a, b, c, i2) *
					       within(x, place(&w[0], i0, a), place(&w[1], i1, b), c, i3);
		want(sum);
	}
	holds(&(struct node){ .op = "CONV_2D",
			      .ne = { columns, rows, RESULTS, IMAGES },
			      .sources = { kernel, x },
			      .params = { WINDOWS(w) } },
	      2e-6);
	EACH_OF(each) {
		double sum = 0;
		for (int64_t b = 0; b < DOWN; b++)
			for (int64_t a = 0; a < ACROSS; a++)
				sum +=
				    at(own, a, b, 0, i2) * within(x, place(&w[0], i0, a), place(&w[1], i1, b), i2, i3);
		want(sum);
	}
	holds(&(struct node){ .op = "CONV_2D_DW",
			      .ne = { columns, rows, CHANNELS, IMAGES },
			      .sources = { own, x },
			      .params = { WINDOWS(w) } },
	      2e-6);
}

static void of_rows(void)
{
	enum { LENGTH = 13, K = 4, STATES = 3, TOKENS = 6, SEQUENCES = 2 };
	const struct way w = { LENGTH, K, 2, 1, 2 };
	nodes_reset();
	int x = leaf(LENGTH, CHANNELS, IMAGES, 1), kernel = leaf(K, CHANNELS, RESULTS, 1);
	const int64_t n = count(&w), ne[] = { CHANNELS * K, n, IMAGES, 1 };

	EACH_OF(ne)
		want(within(x, place(&w, i1, i0 % K), i0 / K, i2, i3));
	holds(&(struct node){ .op = "IM2COL",
			      .ne = { CHANNELS * K, n, IMAGES, 1 },
			      .sources = { kernel, x },
			      .params = { 2, 0, 1, 0, 2, 0, 0 } },
	      0);
	int states = leaf(STATES + TOKENS, CHANNELS, SEQUENCES, 1), taps = leaf(STATES + 1, CHANNELS, 1, 1);
	const int64_t causal[] = { CHANNELS, TOKENS, SEQUENCES, 1 };
	EACH_OF(causal) {
		double sum = 0;
		for (int64_t k = 0; k <= STATES; k++)
			sum += at(states, i1 + k, i0, i2, i3) * at(taps, k, i0, 0, 0);
		want(sum);
	}
	holds(&(struct node){ .op = "SSM_CONV", .ne = { CHANNELS, TOKENS, SEQUENCES, 1 }, .sources = { states, taps } },
	      2e-6);
}

/* What each element gives lies where the kernel lies over it. */
static void transposed(int stride)
{
	nodes_reset();
	int row = leaf(WIDTH, CHANNELS, 1, 1), taps = leaf(ACROSS, RESULTS, CHANNELS, 1);
	int x = leaf(WIDTH, HEIGHT, CHANNELS, 1), kernel = leaf(ACROSS, DOWN, RESULTS, CHANNELS);
	const int64_t length = (WIDTH - 1) * stride + ACROSS, height = (HEIGHT - 1) * stride + DOWN,
		      line[] = { length, RESULTS, 1, 1 }, plane[] = { length, height, RESULTS, 1 };

	EACH_OF(line) {
		double sum = 0;
		for (int64_t c = 0; c < CHANNELS; c++)
			for (int64_t k = 0; k < ACROSS; k++)
				if (i0 >= k && (i0 - k) % stride == 0 && (i0 - k) / stride < WIDTH)
					sum += at(row, (i0 - k) / stride, c, i2, i3) * at(taps, k, i1, c, 0);
		want(sum);
	}
	holds(&(struct node){ .op = "CONV_TRANSPOSE_1D",
			      .ne = { length, RESULTS, 1, 1 },
			      .sources = { taps, row },
			      .params = { stride, 0, 1 } },
	      2e-6);
	EACH_OF(plane) {
		double sum = 0;
		for (int64_t c = 0; c < CHANNELS; c++)
			for (int64_t b = 0; b < DOWN; b++)
				for (int64_t a = 0; a < ACROSS; a++)
					if (i0 >= a && (i0 - a) % stride == 0 && (i0 - a) / stride < WIDTH && i1 >= b &&
					    (i1 - b) % stride == 0 && (i1 - b) / stride < HEIGHT)
						sum += at(x, (i0 - a) / stride, (i1 - b) / stride, c, i3) *
						       at(kernel, a, b, i2, c);
		want(sum);
	}
	holds(&(struct node){ .op = "CONV_TRANSPOSE_2D",
			      .ne = { length, height, RESULTS, 1 },
			      .sources = { kernel, x },
			      .params = { stride } },
	      2e-6);
}

enum { MAXIMUM, MEAN };

static void pools(void)
{
	const struct way w[] = { { WIDTH, 3, 2, 1, 1 }, { HEIGHT, 2, 2, 1, 1 } };
	nodes_reset();
	int x = leaf(WIDTH, HEIGHT, CHANNELS, IMAGES);
	const int64_t columns = count(&w[0]), rows = count(&w[1]), plane[] = { columns, rows, CHANNELS, IMAGES },
		      line[] = { columns, HEIGHT, CHANNELS, IMAGES };

	for (int kind = MAXIMUM; kind <= MEAN; kind++) {
		EACH_OF(plane) {
			double most = -FLT_MAX, sum = 0;
			for (int64_t b = 0; b < w[1].k; b++)
				for (int64_t a = 0; a < w[0].k; a++) {
					int64_t column = place(&w[0], i0, a), row = place(&w[1], i1, b);
					if (column < 0 || row < 0)
						continue;
					sum += at(x, column, row, i2, i3);
					most = fmax(most, at(x, column, row, i2, i3));
				}
			want(kind == MAXIMUM ? most : sum / (w[0].k * w[1].k));
		}
		holds(&(struct node){ .op = "POOL_2D",
				      .ne = { columns, rows, CHANNELS, IMAGES },
				      .sources = { x },
				      .params = { kind, 3, 2, 2, 2, 1, 1 } },
		      kind == MAXIMUM ? 0 : 1e-6);
		EACH_OF(line) { /* a mean of what there is */
			double most = -FLT_MAX, sum = 0;
			int n = 0;
			for (int64_t a = 0; a < w[0].k; a++)
				if (place(&w[0], i0, a) >= 0) {
					sum += at(x, place(&w[0], i0, a), i1, i2, i3);
					most = fmax(most, at(x, place(&w[0], i0, a), i1, i2, i3));
					n++;
				}
			want(kind == MAXIMUM ? most : sum / n);
		}
		holds(&(struct node){ .op = "POOL_1D",
				      .ne = { columns, HEIGHT, CHANNELS, IMAGES },
				      .sources = { x },
				      .params = { kind, 3, 2, 1 } },
		      kind == MAXIMUM ? 0 : 1e-6);
	}
}

/* Between the two nearest of each direction; corners on corners, or pixels' middles. */
static double blend(int x, double column, double row, int64_t i2, int64_t i3)
{
	double c = fmin(fmax(column, 0), WIDTH - 1), r = fmin(fmax(row, 0), HEIGHT - 1);
	int64_t c0 = (int64_t)c, r0 = (int64_t)r, c1 = c0 + 1 < WIDTH ? c0 + 1 : c0, r1 = r0 + 1 < HEIGHT ? r0 + 1 : r0;
	double dc = c - (double)c0, dr = r - (double)r0;

	return (at(x, c0, r0, i2, i3) * (1 - dc) + at(x, c1, r0, i2, i3) * dc) * (1 - dr) +
	       (at(x, c0, r1, i2, i3) * (1 - dc) + at(x, c1, r1, i2, i3) * dc) * dr;
}

static void larger(void)
{
	enum { NEAREST, BILINEAR, CORNERS = 1 << 8 };
	nodes_reset();
	int x = leaf(WIDTH, HEIGHT, CHANNELS, 1);
	const int64_t twice[] = { 2 * WIDTH, 3 * HEIGHT, CHANNELS, 1 };

	for (int old = 0; old < 2; old++) {
		EACH_OF(twice)
			want(at(x, i0 / 2, i1 / 3, i2, i3));
		holds(&(struct node){ .op = "UPSCALE",
				      .ne = { 2 * WIDTH, 3 * HEIGHT, CHANNELS, 1 },
				      .sources = { x },
				      .params = { old ? 2 : NEAREST },
				      .is_old = old },
		      0);
	}
	EACH_OF(twice)
		want(blend(x, ((double)i0 + 0.5) / 2 - 0.5, ((double)i1 + 0.5) / 3 - 0.5, i2, i3));
	holds(&(struct node){ .op = "UPSCALE",
			      .ne = { 2 * WIDTH, 3 * HEIGHT, CHANNELS, 1 },
			      .sources = { x },
			      .params = { BILINEAR } },
	      5e-6);
	EACH_OF(twice)
		want(blend(x, (double)i0 * (WIDTH - 1) / (2 * WIDTH - 1), (double)i1 * (HEIGHT - 1) / (3 * HEIGHT - 1),
			   i2, i3));
	holds(&(struct node){ .op = "UPSCALE",
			      .ne = { 2 * WIDTH, 3 * HEIGHT, CHANNELS, 1 },
			      .sources = { x },
			      .params = { BILINEAR | CORNERS } },
	      5e-6);
	is_without(&(struct node){ .op = "UPSCALE",
				   .ne = { 2 * WIDTH, 3 * HEIGHT, CHANNELS, 1 },
				   .sources = { x },
				   .params = { 2 } },
		   "such a mode");
}

static void of_transformers(void)
{
	enum { W = 4, PX = 3, PY = 2 };
	nodes_reset();
	int table = leaf(5, 2 * W - 1, 1, 1), x = leaf(CHANNELS, 10, 7, 1), parts = leaf(CHANNELS, W, W, PX * PY);
	const int64_t ne[] = { 5, W, W, 1 }, cut[] = { CHANNELS, W, W, PX * PY }, joined[] = { CHANNELS, 10, 7, 1 };

	EACH_OF(ne)
		want(at(table, i0, W - 1 - i1 + i2, i3, 0));
	holds(&(struct node){ .op = "GET_REL_POS", .ne = { 5, W, W, 1 }, .sources = { table } }, 0);
	EACH_OF(cut) {
		int64_t column = i3 % PX * W + i1, row = i3 / PX * W + i2;
		want(column < 10 && row < 7 ? at(x, i0, column, row, 0) : 0);
	}
	holds(&(struct node){ .op = "WIN_PART",
			      .ne = { CHANNELS, W, W, PX * PY },
			      .sources = { x },
			      .params = { PX, PY, W } },
	      0);
	EACH_OF(joined)
		want(at(parts, i0, i1 % W, i2 % W, i2 / W * PX + i1 / W + i3));
	holds(&(struct node){ .op = "WIN_UNPART", .ne = { CHANNELS, 10, 7, 1 }, .sources = { parts }, .params = { W } },
	      0);
}

void recipes_of_images(void **state)
{
	(void)state;
	for (int i = 0; i < WAYS; i++)
		convolutions(ways[i]);
	of_rows();
	for (int stride = 1; stride < 5; stride++)
		transposed(stride);
	pools();
	larger();
	of_transformers();
}
