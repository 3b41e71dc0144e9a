/* Running sums along an axis. What lies beside each other goes along together (simd/scan.c): lanes, elements that
 * follow each other in memory; or lines, where the axis itself is contiguous. Where x is neither, it is copied to where
 * the result goes and summed in place. */
#include "base/plural.h"
#include "kernels/layout.h"
#include "kernels/model.h"
#include "kernels/share.h"
#include "kernels/tile.h"

enum { FEWEST_LANES = 64, FEWEST_LINES = 4, GRAIN = 1 << 14 };

struct job {
	const struct lb_tiles *tiles;
	struct lb_scan scan;
	int outer_rank; /* axes before the one that is summed along */
	int64_t outer[LB_MAX_RANK], strides[LB_MAX_RANK];
	int64_t n_outer, inner,
	    together; /* inner: elements that lie beside each other; together: lanes, or lines, of a task */
	int64_t bytes;
	const char *from;
	char *to;
};

static const char *line_from(const struct job *job, int64_t line)
{
	int64_t index[LB_MAX_RANK];

	lb_index_of(job->outer_rank, job->outer, line, index);
	return job->from + lb_offset_of(job->outer_rank, index, job->strides) * job->bytes;
}

static void scan_task(void *arg, void *scratch, int64_t task)
{
	(void)scratch;
	const struct job *job = arg;
	int64_t line_bytes = job->scan.n * job->inner * job->bytes;

	if (job->inner > 1) {
		int64_t blocks = (job->inner + job->together - 1) / job->together;
		int64_t lane = task % blocks * job->together;
		int64_t left = job->inner - lane, line = task / blocks;
		job->tiles->scan_lanes(&job->scan, left < job->together ? left : job->together,
				       line_from(job, line) + lane * job->bytes,
				       job->to + line * line_bytes + lane * job->bytes);
		return;
	}
	const void *from[LB_SCAN_LINES];
	void *to[LB_SCAN_LINES];
	int64_t first = task * job->together, left = job->n_outer - first;
	int n = (int)(left < job->together ? left : job->together);
	for (int i = 0; i < n; i++) {
		from[i] = line_from(job, first + i);
		to[i] = job->to + (first + i) * line_bytes;
	}
	job->tiles->scan_lines(&job->scan, n, from, to);
}

bool lb_kernel_cumsum(struct lb_exec *exec, const struct lb_view *x, int axis, bool reverse, bool inclusive, void *to)
{
	if (axis < 0 || axis >= x->rank || x->dtype == LB_BOOL)
		return lb_fail("cumsum: not defined for %s, axis %d of %d %s", lb_dtypes[x->dtype].name, axis, x->rank,
			       LB_PLURAL(x->rank, "axis", "axes"));
	struct lb_view source = *x, dense = *x;
	dense.data = to;
	int64_t size = 1;
	for (int i = x->rank - 1; i >= 0; i--) {
		dense.strides[i] = size;
		size *= x->shape[i];
	}
	if (size == 0)
		return true;
	bool beside = lb_is_dense(x->rank - axis - 1, x->shape + axis + 1, x->strides + axis + 1);
	if (!beside || (dense.strides[axis] == 1 && x->strides[axis] != 1)) {
		if (!lb_kernel_copy(exec, &dense, x))
			return false;
		source = dense;
	}
	int64_t parts = x->dtype == LB_C64 ? 2 : 1; /* complex: two floats */
	struct job job = { .tiles = lb_tiles(),
			   .outer_rank = axis,
			   .n_outer = lb_shape_size(axis, x->shape),
			   .inner = dense.strides[axis] * parts,
			   .bytes = lb_width_of(x->dtype) / parts,
			   .from = source.data,
			   .to = to };
	job.scan = (struct lb_scan){ .dtype = parts == 2 ? LB_F32 : (int)x->dtype,
				     .n = x->shape[axis],
				     .from_step = source.strides[axis] * parts,
				     .to_step = job.inner,
				     .reverse = reverse,
				     .inclusive = inclusive };
	memcpy(job.outer, x->shape, sizeof job.outer);
	for (int i = 0; i < axis; i++)
		job.strides[i] = source.strides[i] * parts;
	bool lanes = job.inner > 1;
	int64_t all = lanes ? job.inner : job.n_outer, times = lanes ? job.n_outer : 1;
	int64_t most = lanes ? LB_SCAN_LANES : LB_SCAN_LINES, fewest = lanes ? FEWEST_LANES : FEWEST_LINES;
	job.together = all < most ? all : most;
	while (job.together > fewest && times * (all / job.together) < lb_parallel_width())
		job.together /= 2;
	int64_t tasks = times * ((all + job.together - 1) / job.together);
	return lb_share(exec, tasks, GRAIN / (job.scan.n * job.together) + 1, 0, scan_task, &job);
}
