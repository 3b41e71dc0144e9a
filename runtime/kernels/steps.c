/* Products of matrices of halves, where each product and each sum is rounded, from the first of a row to its last. */
#include "kernels/half.h"
#include "kernels/layout.h"
#include "kernels/model.h"
#include "kernels/share.h"

enum { COLUMNS = 64 };

struct job {
	const struct lb_view *a, *b; /* (…, m, k), (…, k, n) */
	uint16_t *to;
	int64_t m, n, k, blocks;
	bool is_bf16;
};

static inline float of_f16(float x)
{
	return lb_f16_to_float(lb_float_to_f16(x));
}

static inline float of_bf16(float x)
{
	return lb_bf16_to_float(lb_float_to_bf16(x));
}

static float load_element(const struct job *job, const struct lb_view *x, int64_t at)
{
	uint16_t half = ((const uint16_t *)x->data)[at];

	return job->is_bf16 ? lb_bf16_to_float(half) : lb_f16_to_float(half);
}

/* Where the matrix of a batch begins. */
static int64_t begin_of(const struct lb_view *x, int64_t batch)
{
	int64_t index[LB_MAX_RANK];

	lb_index_of(x->rank - 2, x->shape, batch, index);
	return lb_offset_of(x->rank - 2, index, x->strides);
}

#define ADD(round) \
	for (int64_t j = 0; j < n; j++) \
	sums[j] = round(sums[j] + round(x * columns[j]))

/* One row by some columns of b, which are packed. */
static void row(const struct job *job, int64_t begin, int64_t n, const float *columns, uint16_t *to)
{
	int64_t stride = job->a->strides[job->a->rank - 1];
	float sums[COLUMNS] = { 0 };

	for (int64_t i = 0; i < job->k; i++, columns += COLUMNS) {
		float x = load_element(job, job->a, begin + i * stride);
		if (job->is_bf16)
			ADD(of_bf16);
		else
			ADD(of_f16);
	}
	for (int64_t j = 0; j < n; j++)
		to[j] = job->is_bf16 ? lb_float_to_bf16(sums[j]) : lb_float_to_f16(sums[j]);
}

static void block(void *arg, void *scratch, int64_t task)
{
	const struct job *job = arg;
	int64_t batch = task / job->blocks, first = task % job->blocks * COLUMNS, rank = job->a->rank;
	int64_t n = job->n - first < COLUMNS ? job->n - first : COLUMNS;
	int64_t from_a = begin_of(job->a, batch), from_b = begin_of(job->b, batch);
	const int64_t *along = job->b->strides + rank - 2;
	float *columns = scratch;

	for (int64_t i = 0; i < job->k; i++)
		for (int64_t j = 0; j < n; j++)
			columns[i * COLUMNS + j] =
			    load_element(job, job->b, from_b + i * along[0] + (first + j) * along[1]);
	for (int64_t i = 0; i < job->m; i++)
		row(job, from_a + i * job->a->strides[rank - 2], n, columns,
		    job->to + (batch * job->m + i) * job->n + first);
}

bool lb_kernel_matmul_in_steps(struct lb_exec *exec, const struct lb_view *a, const struct lb_view *b, void *to)
{
	int64_t batches = lb_shape_size(a->rank - 2, a->shape), nbytes;
	struct job job = { .a = a,
			   .b = b,
			   .to = to,
			   .m = a->shape[a->rank - 2],
			   .n = b->shape[b->rank - 1],
			   .k = a->shape[a->rank - 1],
			   .is_bf16 = a->dtype == LB_BF16 };

	if ((a->dtype != LB_F16 && a->dtype != LB_BF16) || b->dtype != a->dtype || b->shape[b->rank - 2] != job.k)
		return lb_fail("matmul_in_steps: not defined for %s", lb_dtypes[a->dtype].name);
	job.blocks = (job.n + COLUMNS - 1) / COLUMNS;
	nbytes = lb_bytes_of(job.k, COLUMNS, sizeof(float));
	return batches * job.m * job.n == 0 || lb_share(exec, batches * job.blocks, 1, nbytes, block, &job);
}
