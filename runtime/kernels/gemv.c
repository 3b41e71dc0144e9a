#include "kernels/gemv.h"

#include "kernels/row.h"

enum { GRAIN = 1 << 15, COLUMNS = 1024, PIECES = 16, PIECE = 256 };

static void dot_rows(void *arg, int64_t begin, int64_t end)
{
	const struct lb_gemv *g = arg;
	const struct lb_vectors one = { .n = 1,
					.x = g->x,
					.to = (char *)g->to + begin * lb_width_of(lb_stage_of(g->dtype)),
					.rows = (const char *)g->w + begin * g->stride * lb_width_of(g->dtype),
					.stride = g->stride,
					.dtype = g->dtype };
	lb_tiles()->dots(&one, end - begin, g->k);
}

/* Into how many pieces the rows are cut, by the sizes alone: few columns would not keep all cores busy. */
static int64_t pieces_of(const struct lb_gemv *g)
{
	int64_t most = g->n >= PIECES * COLUMNS ? 1 : PIECES, n = g->k / PIECE;
	return n < 1 ? 1 : n < most ? n : most;
}

int64_t lb_gemv_scratch(const struct lb_gemv *g)
{
	return g->turned ? 0 : pieces_of(g) * g->n * lb_width_of(lb_stage_of(g->dtype));
}

/* Tasks are blocks of columns of a piece of the rows. */
static void sum_blocks(void *arg, int64_t begin, int64_t end)
{
	const struct lb_gemv *g = arg;
	int64_t width = lb_width_of(lb_stage_of(g->dtype)), pieces = pieces_of(g);
	int64_t blocks = (g->n + COLUMNS - 1) / COLUMNS;
	for (int64_t task = begin; task < end; task++) {
		int64_t piece = task / blocks, first = task % blocks * COLUMNS;
		int64_t n = g->n - first < COLUMNS ? g->n - first : COLUMNS;
		int64_t row = g->k * piece / pieces, m = g->k * (piece + 1) / pieces - row;
		const struct lb_vectors one = { .n = 1,
						.x = (const char *)g->x + row * width,
						.to = (char *)g->sums + (piece * g->n + first) * width,
						.rows = (const char *)g->w +
							(row * g->stride + first) * lb_width_of(g->dtype),
						.stride = g->stride,
						.dtype = g->dtype };
		memset(one.to, 0, (size_t)(n * width));
		lb_tiles()->combine(&one, n, m);
	}
}

void lb_gemv(struct lb_exec *exec, const struct lb_gemv *g)
{
	if (g->turned) {
		lb_parallel(exec, g->n, GRAIN / (g->k + 1) + 1, dot_rows, (void *)g);
		return;
	}
	int stage = lb_stage_of(g->dtype);
	int64_t pieces = pieces_of(g), blocks = (g->n + COLUMNS - 1) / COLUMNS;
	int64_t work = (g->n < COLUMNS ? g->n : COLUMNS) * (g->k / pieces);
	lb_parallel(exec, pieces * blocks, GRAIN / (work + 1) + 1, sum_blocks, (void *)g);
	memcpy(g->to, g->sums, (size_t)(g->n * lb_width_of(stage)));
	lb_tile_fn *add = lb_tiles()->elementwise(LB_OP_ADD, stage, stage);
	for (int64_t i = 1; i < pieces; i++)
		add(g->n, g->to, g->to, (char *)g->sums + i * g->n * lb_width_of(stage), NULL);
}
