/* Along rows: sums, orders, norms, softmax. */
#include <math.h>

#include "ggml_recipes.h"

enum { COLUMNS = 12, ROWS = 5, PLANES = 4, CUBES = 2 };
static const int64_t ne[] = { COLUMNS, ROWS, PLANES, CUBES };
#define SHAPE { COLUMNS, ROWS, PLANES, CUBES }

#define EACH_ROW \
	for (int64_t i3 = 0; i3 < CUBES; i3++) \
		for (int64_t i2 = 0; i2 < PLANES; i2++) \
			for (int64_t i1 = 0; i1 < ROWS; i1++)

static double row_sum(int x, int64_t i1, int64_t i2, int64_t i3, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += at(x, i, i1, i2, i3);
	return sum;
}

static void sums(void)
{
	nodes_reset();
	int x = leaf(COLUMNS, ROWS, PLANES, CUBES);
	double all = 0;

	EACH_OF(ne)
		all += at(x, i0, i1, i2, i3);
	want(all);
	holds(&(struct node){ .op = "SUM", .ne = { 1, 1, 1, 1 }, .sources = { x } }, 1e-5);
	EACH_ROW
	want(row_sum(x, i1, i2, i3, COLUMNS));
	holds(&(struct node){ .op = "SUM_ROWS", .ne = { 1, ROWS, PLANES, CUBES }, .sources = { x } }, 1e-6);
	EACH_ROW
	want(row_sum(x, i1, i2, i3, COLUMNS) / COLUMNS);
	holds(&(struct node){ .op = "MEAN", .ne = { 1, ROWS, PLANES, CUBES }, .sources = { x } }, 1e-6);
	EACH_OF(ne)
		want(row_sum(x, i1, i2, i3, i0 + 1));
	holds(&(struct node){ .op = "CUMSUM", .ne = SHAPE, .sources = { x } }, 1e-6);
}

/* Which element of a row is the k-th, by size. */
static int64_t place_of(int x, int64_t row, int64_t k, bool falling)
{
	for (int64_t i = 0; i < COLUMNS; i++) {
		int64_t before = 0;
		for (int64_t j = 0; j < COLUMNS; j++) {
			double a = at(x, j, row, 0, 0), b = at(x, i, row, 0, 0);
			before += falling ? a > b : a < b;
		}
		if (before == k)
			return i;
	}
	return -1;
}

static void orders(void)
{
	nodes_reset();
	int x = leaf(COLUMNS, ROWS, 1, 1);

	for (int64_t r = 0; r < ROWS; r++)
		want((double)place_of(x, r, 0, true));
	holds(&(struct node){ .op = "ARGMAX", .dtype = LB_I32, .ne = { ROWS, 1, 1, 1 }, .sources = { x } }, 0);
	for (int falling = 0; falling < 2; falling++) {
		for (int64_t r = 0; r < ROWS; r++)
			for (int64_t k = 0; k < COLUMNS; k++)
				want((double)place_of(x, r, k, falling));
		holds(&(struct node){ .op = "ARGSORT",
				      .dtype = LB_I32,
				      .ne = { COLUMNS, ROWS, 1, 1 },
				      .sources = { x },
				      .params = { falling } },
		      0);
	}
	for (int n = 1; n < 5; n++) {
		for (int64_t r = 0; r < ROWS; r++)
			for (int64_t k = 0; k < n; k++) /* the first two change places */
				want((double)place_of(x, r, n > 1 && k < 2 ? 1 - k : k, true));
		holds(&(struct node){ .op = "TOP_K", .dtype = LB_I32, .ne = { n, ROWS, 1, 1 }, .sources = { x } }, 0);
	}
}

static void norms(void)
{
	const double eps = 1e-3F;
	nodes_reset();
	int x = leaf(COLUMNS, ROWS, PLANES, CUBES);

	EACH_ROW
	{
		double mean = row_sum(x, i1, i2, i3, COLUMNS) / COLUMNS, square = 0;
		for (int i = 0; i < COLUMNS; i++)
			square += pow(at(x, i, i1, i2, i3) - mean, 2) / COLUMNS;
		for (int i = 0; i < COLUMNS; i++)
			want((at(x, i, i1, i2, i3) - mean) / sqrt(square + eps));
	}
	holds(&(struct node){ .op = "NORM", .ne = SHAPE, .sources = { x }, .params = { bits_of(1e-3F) } }, 1e-6);
	for (int l2 = 0; l2 < 2; l2++) {
		EACH_ROW
		{
			double square = 0;
			for (int i = 0; i < COLUMNS; i++)
				square += pow(at(x, i, i1, i2, i3), 2);
			for (int i = 0; i < COLUMNS; i++)
				want(at(x, i, i1, i2, i3) /
				     (l2 ? fmax(sqrt(square), eps) : sqrt(square / COLUMNS + eps)));
		}
		holds(&(struct node){ .op = l2 ? "L2_NORM" : "RMS_NORM",
				      .ne = SHAPE,
				      .sources = { x },
				      .params = { bits_of(1e-3F) } },
		      1e-6);
	}
	/* a row of zeros has the length eps */
	for (int i = 0; i < COLUMNS; i++)
		elements_of(x)[i] = 0;
	for (int i = 0; i < COLUMNS; i++)
		want(0);
	EACH_ROW
	{
		double square = 0;
		if (i1 + i2 + i3 == 0)
			continue;
		for (int i = 0; i < COLUMNS; i++)
			square += pow(at(x, i, i1, i2, i3), 2);
		for (int i = 0; i < COLUMNS; i++)
			want(at(x, i, i1, i2, i3) / sqrt(square));
	}
	holds(&(struct node){ .op = "L2_NORM", .ne = SHAPE, .sources = { x }, .params = { bits_of(1e-3F) } }, 1e-6);
}

/* Of channels, axis 2, some of which are a group; the last one may have fewer. */
static void groups(void)
{
	enum { CHANNELS = 7, GROUPS = 3, EACH = 3 };
	for (int old = 0; old < 2; old++) {
		nodes_reset();
		int x = leaf(4, 3, CHANNELS, 2);
		for (int64_t i3 = 0; i3 < 2; i3++)
			for (int64_t c = 0; c < CHANNELS; c++) {
				int64_t first = c / EACH * EACH,
					last = first + EACH < CHANNELS ? first + EACH : CHANNELS;
				double mean = 0, square = 0, n = (double)(12 * (last - first));
				for (int64_t i = first * 12; i < last * 12; i++)
					mean += at(x, i % 4, i / 4 % 3, i / 12, i3) / n;
				for (int64_t i = first * 12; i < last * 12; i++)
					square += pow(at(x, i % 4, i / 4 % 3, i / 12, i3) - mean, 2) / n;
				for (int64_t i = 0; i < 12; i++)
					want((at(x, i % 4, i / 4, c, i3) - mean) / sqrt(square + (old ? 1e-6 : 0.01F)));
			}
		holds(&(struct node){ .op = "GROUP_NORM",
				      .ne = { 4, 3, CHANNELS, 2 },
				      .sources = { x },
				      .params = { GROUPS, old ? 0 : bits_of(0.01F) },
				      .is_old = old },
		      1e-6);
	}
}

/* ALiBi's slopes, as the paper has them for numbers of heads that are powers of 2, and in between. */
static double slope(int head, int heads, double max_bias)
{
	int below = 1;

	while (below * 2 <= heads)
		below *= 2;
	return head < below ? pow(2, -max_bias * (head + 1) / below)
			    : pow(2, -max_bias / 2 * (2 * (head - below) + 1) / below);
}

enum { HEADS = 6 };

/* Rows of each head: scale x + slope mask, and a sink beside them. */
static void want_softmax(int x, int mask, int sinks, double scale, double max_bias)
{
	for (int64_t i3 = 0; i3 < CUBES; i3++)
		for (int64_t h = 0; h < HEADS; h++)
			for (int64_t r = 0; r < ROWS; r++) {
				double values[COLUMNS], most = -INFINITY, sum = 0;
				for (int64_t i = 0; i < COLUMNS; i++) {
					values[i] = scale * at(x, i, r, h, i3);
					if (mask)
						values[i] += (max_bias > 0 ? slope((int)h, HEADS, max_bias) : 1) *
							     again(mask, i, r, h, i3);
					most = fmax(most, values[i]);
				}
				if (sinks) {
					most = fmax(most, at(sinks, h, 0, 0, 0));
					sum = exp(at(sinks, h, 0, 0, 0) - most);
				}
				for (int64_t i = 0; i < COLUMNS; i++)
					sum += exp(values[i] - most);
				for (int64_t i = 0; i < COLUMNS; i++)
					want(exp(values[i] - most) / sum);
			}
}

static void softmax(void)
{
	nodes_reset();
	int x = leaf(COLUMNS, ROWS, HEADS, CUBES), mask = leaf(COLUMNS, ROWS, 1, 1),
	    halves = leaf_of(LB_F16, COLUMNS, ROWS, 1, CUBES, 0);
	int padded = leaf(COLUMNS, ROWS + 3, 1, 1), sinks = leaf(HEADS, 1, 1, 1), positions = leaf(COLUMNS, 1, 1, 1);
	const struct {
		int mask, sinks;
		float max_bias;
	} kinds[] = { { 0, 0, 0 },      { mask, 0, 0 },     { mask, 0, 8 },    { halves, 0, 8 },
		      { padded, 0, 0 }, { mask, sinks, 4 }, { mask, sinks, 0 } };

	/* some are masked away */
	for (int i = 0; i < ROWS; i++)
		for (int k = i + 2; k < COLUMNS; k++)
			elements_of(mask)[i * COLUMNS + k] = -INFINITY;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		want_softmax(x, kinds[k].mask, kinds[k].sinks, 0.4F, kinds[k].max_bias);
		holds(&(struct node){ .op = "SOFT_MAX",
				      .ne = { COLUMNS, ROWS, HEADS, CUBES },
				      .sources = { x, kinds[k].mask, kinds[k].sinks },
				      .params = { bits_of(0.4F), bits_of(kinds[k].max_bias) } },
		      1e-6);
	}
	/* once ALiBi was of positions, beside a mask */
	for (int64_t i3 = 0; i3 < CUBES; i3++)
		for (int64_t h = 0; h < HEADS; h++)
			for (int64_t r = 0; r < ROWS; r++) {
				double values[COLUMNS], sum = 0;
				for (int64_t i = 0; i < COLUMNS; i++) {
					values[i] = exp(0.4F * at(x, i, r, h, i3) + at(mask, i, r, 0, 0) +
							slope((int)h, HEADS, 8) * at(positions, i, 0, 0, 0));
					sum += values[i];
				}
				for (int64_t i = 0; i < COLUMNS; i++)
					want(values[i] / sum);
			}
	holds(&(struct node){ .op = "SOFT_MAX",
			      .ne = { COLUMNS, ROWS, HEADS, CUBES },
			      .sources = { x, mask, positions },
			      .params = { bits_of(0.4F), bits_of(8) },
			      .is_old = true },
	      1e-6);
	is_without(&(struct node){ .op = "SOFT_MAX",
				   .ne = { COLUMNS, ROWS, HEADS, CUBES },
				   .sources = { x, mask },
				   .params = { bits_of(0.4F), bits_of(8) },
				   .is_old = true },
		   "ALiBi without positions");
}

void recipes_of_rows(void **state)
{
	(void)state;
	sums();
	orders();
	norms();
	groups();
	softmax();
}
