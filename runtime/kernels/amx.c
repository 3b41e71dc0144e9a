#include "kernels/amx.h"

#include <stdatomic.h>

enum {
	PIECES = 16,            /* of strips, at a time: those of the rows' strip stay in the nearest cache */
	LARGE = 512, /* rows and columns of a task: what it reads and writes meanwhile stays in the next cache */
	SMALL = 256, /* where large ones would be too few for all cores */
	TASKS = 4, /* for a core */
	GRAIN_PACKED = 1 << 15, /* elements worth a thread */
	GRAIN = 1 << 22, /* products */
};

struct job {
	const struct lb_gemm *g;
	uint32_t *left, *right;
	float *sums; /* where `to` is rounded */
	int64_t block; /* rows and columns of a task */
	bool add;
	_Atomic bool odd; /* there is an element that AMX does not multiply */
};

static int64_t strips_of(int64_t lines)
{
	return (lines + LB_AMX_STRIP - 1) / LB_AMX_STRIP;
}

static int64_t pieces_of(int64_t depth)
{
	return (depth + LB_AMX_DEPTH - 1) / LB_AMX_DEPTH;
}

static int64_t piece_words(int dtype)
{
	return (dtype == LB_F16 ? 2 : 1) * LB_AMX_WORDS;
}

/* From strip to strip; a line of the cache more, so that they do not all meet in the same sets of it. */
static int64_t strip_words(int dtype, int64_t depth)
{
	return pieces_of(depth) * piece_words(dtype) + 16;
}

int64_t lb_amx_scratch(int dtype, int64_t lines, int64_t depth)
{
	return strips_of(lines) * strip_words(dtype, depth) * 4;
}

static void pack_left(void *arg, int64_t begin, int64_t end)
{
	struct job *job = arg;
	const struct lb_gemm *g = job->g;
	for (int64_t i = begin; i < end; i++)
		if (!lb_tiles()->pack_amx(job->left + i * strip_words(g->dtype, g->k), true, g->dtype,
					  g->m - i * LB_AMX_STRIP, g->a + i * LB_AMX_STRIP * g->a_row * 2, g->a_row,
					  g->a_column, g->k))
			atomic_store_explicit(&job->odd, true, memory_order_relaxed);
}

static void pack_right(void *arg, int64_t begin, int64_t end)
{
	struct job *job = arg;
	const struct lb_gemm *g = job->g;
	for (int64_t j = begin; j < end; j++)
		if (!lb_tiles()->pack_amx(job->right + j * strip_words(g->dtype, g->k), false, g->dtype,
					  g->n - j * LB_AMX_STRIP, g->b + j * LB_AMX_STRIP * g->b_column * 2,
					  g->b_column, g->b_row, g->k))
			atomic_store_explicit(&job->odd, true, memory_order_relaxed);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

struct place {
	int64_t row, column, m, n;
};

static struct place place_of(const struct job *job, int64_t task)
{
	const struct lb_gemm *g = job->g;
	int64_t block = job->block, high = (g->m + block - 1) / block, i = task % high * block, j = task / high * block;
	return (struct place){ i, j, least(g->m - i, block), least(g->n - j, block) };
}

/* sums = or += block `task` of the product. */
static void multiply_block(const struct job *job, int64_t task, float *sums, int64_t sums_row)
{
	const struct lb_gemm *g = job->g;
	bool f16 = g->dtype == LB_F16;
	int64_t apart = strip_words(g->dtype, g->k), all = pieces_of(g->k), some = f16 ? PIECES / 2 : PIECES;
	struct place at = place_of(job, task);
	const uint32_t *a = job->left + at.row / LB_AMX_STRIP * apart,
		       *b = job->right + at.column / LB_AMX_STRIP * apart;
	for (int64_t p = 0; p < all; p += some)
		lb_tiles()->multiply_amx(f16, at.m, at.n, a + p * piece_words(g->dtype), b + p * piece_words(g->dtype),
					 apart, least(all - p, some), sums, sums_row, job->add || p > 0);
}

static void multiply_blocks(void *arg, int64_t begin, int64_t end)
{
	const struct job *job = arg;
	const struct lb_gemm *g = job->g;
	for (int64_t task = begin; task < end; task++) {
		struct place at = place_of(job, task);
		multiply_block(job, task, (float *)(void *)g->to + at.row * g->to_row + at.column, g->to_row);
	}
}

/* Floats of a row of a task's sums: rows of a power of two would meet in one set of the cache. */
static int64_t sums_row(int64_t block)
{
	return block + 16;
}

/* Floats of the sums of a task. */
static int64_t task_sums(int64_t m, int64_t block)
{
	return strips_of(least(m, block)) * LB_AMX_STRIP * sums_row(block);
}

/* The sums of its first task's place serve for all: they stay in the cache. */
static void multiply_rounded(void *arg, int64_t begin, int64_t end)
{
	const struct job *job = arg;
	const struct lb_gemm *g = job->g;
	float *sums = job->sums + begin * task_sums(g->m, job->block);
	int64_t row = sums_row(job->block);
	lb_tile_fn *round = lb_tiles()->convert(g->dtype, LB_F32);
	for (int64_t task = begin; task < end; task++) {
		struct place at = place_of(job, task);
		multiply_block(job, task, sums, row);
		for (int64_t i = 0; i < at.m; i++)
			round(at.n, g->to + ((at.row + i) * g->to_row + at.column) * 2, sums + i * row, NULL, NULL);
	}
}

static int64_t tasks_of(int64_t m, int64_t n, int64_t block)
{
	return (m + block - 1) / block * ((n + block - 1) / block);
}

static int64_t block_of(const struct lb_gemm *g)
{
	return tasks_of(g->m, g->n, LARGE) < TASKS * lb_parallel_width() ? SMALL : LARGE;
}

int64_t lb_amx_sums(int64_t m, int64_t n)
{
	int64_t large = tasks_of(m, n, LARGE) * task_sums(m, LARGE),
		small = tasks_of(m, n, SMALL) * task_sums(m, SMALL);
	return (large < small ? small : large) * 4;
}

static int64_t grain_of(const struct job *job)
{
	const struct lb_gemm *g = job->g;
	return GRAIN / (least(g->m, job->block) * least(g->n, job->block) * g->k + 1) + 1;
}

/* False if there is an element that AMX does not multiply. */
static bool pack(const struct lb_exec *exec, struct job *job, bool left_alone)
{
	const struct lb_gemm *g = job->g;
	int64_t grain = GRAIN_PACKED / (LB_AMX_STRIP * g->k + 1) + 1;
	lb_parallel(exec, strips_of(g->m), grain, pack_left, job);
	if (!left_alone)
		lb_parallel(exec, strips_of(g->n), grain, pack_right, job);
	return !atomic_load_explicit(&job->odd, memory_order_relaxed);
}

bool lb_multiply_amx(const struct lb_exec *exec, const struct lb_gemm *g, bool add, void *left, void *right)
{
	struct job job = { .g = g, .left = left, .right = right, .add = add, .block = block_of(g) };
	if (!pack(exec, &job, false))
		return false;
	lb_parallel(exec, tasks_of(g->m, g->n, job.block), grain_of(&job), multiply_blocks, &job);
	return true;
}

bool lb_multiply_amx_rounded(const struct lb_exec *exec, const struct lb_gemm *g, bool packed, void *left, void *right,
			     void *sums)
{
	struct job job = { .g = g, .left = left, .right = right, .sums = sums, .block = block_of(g) };
	if (!pack(exec, &job, packed))
		return false;
	lb_parallel(exec, tasks_of(g->m, g->n, job.block), grain_of(&job), multiply_rounded, &job);
	return true;
}
