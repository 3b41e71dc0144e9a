#include "kernels/pairs.h"

#include <stdatomic.h>

enum {
	LINES_AT_ONCE = 16,     /* lines and pairs that are turned at once */
	WIDE = 4, /* strips of columns that a task goes through for the same rows: they stay in the cache */
	HIGH = 10, /* strips of rows, likewise */
	GRAIN_PACKED = 1 << 15, /* elements worth a thread */
	GRAIN = 1 << 20, /* products */
};

struct job {
	const struct lb_gemm *g;
	uint32_t *left, *right;
	bool add;
	_Atomic bool denormals;
};

bool lb_has_pairs(void)
{
	return lb_isa_level() >= LB_ISA_BF16;
}

static int64_t strips_of(int64_t lines, int width)
{
	return (lines + width - 1) / width;
}

/* Words from strip to strip: pairs are turned so many at once, of which each may write LINES_AT_ONCE words. */
static int64_t strip_words(int width, int64_t depth)
{
	return (depth + 2 * LINES_AT_ONCE - 1) / (2 * LINES_AT_ONCE) * LINES_AT_ONCE * width + LINES_AT_ONCE;
}

int64_t lb_pairs_scratch_left(int64_t rows, int64_t depth)
{
	return strips_of(rows, LB_PAIRS_ROWS) * strip_words(LB_PAIRS_ROWS, depth) * 4;
}

int64_t lb_pairs_scratch_right(int64_t columns, int64_t depth)
{
	return strips_of(columns, LB_PAIRS_COLUMNS) * strip_words(LB_PAIRS_COLUMNS, depth) * 4;
}

/* Of strip i of the rows, the last of which may be less high. */
static int rows_of(const struct lb_gemm *g, int64_t i)
{
	int64_t rows = g->m - i * LB_PAIRS_ROWS;
	return rows < LB_PAIRS_ROWS ? (int)(rows + 1) / 2 * 2 : LB_PAIRS_ROWS;
}

static void pack_left(void *arg, int64_t begin, int64_t end)
{
	struct job *job = arg;
	const struct lb_gemm *g = job->g;
	for (int64_t i = begin; i < end; i++)
		if (lb_tiles()->pack_pairs(job->left + i * strip_words(LB_PAIRS_ROWS, g->k), rows_of(g, i),
					   g->m - i * LB_PAIRS_ROWS, g->a + i * LB_PAIRS_ROWS * g->a_row * 2, g->a_row,
					   g->a_column, g->k))
			atomic_store_explicit(&job->denormals, true, memory_order_relaxed);
}

static void pack_right(void *arg, int64_t begin, int64_t end)
{
	struct job *job = arg;
	const struct lb_gemm *g = job->g;
	for (int64_t j = begin; j < end; j++)
		if (lb_tiles()->pack_pairs(job->right + j * strip_words(LB_PAIRS_COLUMNS, g->k), LB_PAIRS_COLUMNS,
					   g->n - j * LB_PAIRS_COLUMNS, g->b + j * LB_PAIRS_COLUMNS * g->b_column * 2,
					   g->b_column, g->b_row, g->k))
			atomic_store_explicit(&job->denormals, true, memory_order_relaxed);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Tasks are a strip of rows times WIDE strips of columns, those of the same columns next to each other. */
static void multiply_strips(void *arg, int64_t begin, int64_t end)
{
	struct job *job = arg;
	const struct lb_gemm *g = job->g;
	int64_t high = strips_of(g->m, LB_PAIRS_ROWS), wide = strips_of(g->n, LB_PAIRS_COLUMNS);
	bool denormals = atomic_load_explicit(&job->denormals, memory_order_relaxed);
	for (int64_t task = begin; task < end;) {
		int64_t first = task / high * WIDE, i = task % high, rows = least(least(high - i, HIGH), end - task);
		for (int64_t j = first; j < least(first + WIDE, wide); j++)
			for (int64_t r = i; r < i + rows; r++)
				lb_tiles()->multiply_pairs(rows_of(g, r),
							   job->left + r * strip_words(LB_PAIRS_ROWS, g->k),
							   job->right + j * strip_words(LB_PAIRS_COLUMNS, g->k),
							   (g->k + 1) / 2,
							   (float *)(void *)g->to + r * LB_PAIRS_ROWS * g->to_row +
							       j * LB_PAIRS_COLUMNS,
							   g->to_row, job->add, denormals);
		task += rows;
	}
}

void lb_multiply_pairs(const struct lb_exec *exec, const struct lb_gemm *g, bool add, void *left, void *right)
{
	struct job job = { .g = g, .left = left, .right = right, .add = add };
	int64_t high = strips_of(g->m, LB_PAIRS_ROWS), wide = strips_of(g->n, LB_PAIRS_COLUMNS);
	lb_parallel(exec, high, GRAIN_PACKED / (LB_PAIRS_ROWS * g->k + 1) + 1, pack_left, &job);
	lb_parallel(exec, wide, GRAIN_PACKED / (LB_PAIRS_COLUMNS * g->k + 1) + 1, pack_right, &job);
	lb_parallel(exec, (wide + WIDE - 1) / WIDE * high,
		    GRAIN / (LB_PAIRS_ROWS * WIDE * LB_PAIRS_COLUMNS * g->k + 1) + 1, multiply_strips, &job);
}
