/* Rotary position embedding. All rows at one position turn by the same angles, so a task is a
 * position: its cosines and sines are computed once, for every head. */
#include <math.h>

#include "base/plural.h"
#include "kernels/model.h"
#include "kernels/row.h"
#include "kernels/share.h"

enum { GRAIN = 1 << 13 };

struct job {
	const struct lb_tiles *tiles;
	const struct lb_view *x;
	const struct lb_rope *rope;
	const double *frequencies; /* of each pair */
	int64_t rows;              /* at each position */
	char *to;
};

static void turn_position(void *arg, void *scratch, int64_t position)
{
	const struct job *job = arg;
	const struct lb_view *x = job->x;
	int batch = x->rank - 2, last = x->rank - 1, stage = lb_stage_of(x->dtype);
	int64_t half = job->rope->dims / 2, n = x->shape[last], bytes = lb_width_of(x->dtype);
	double *angles = scratch, *turned = angles + half;
	char *cosines = (char *)(turned + half), *sines = cosines + half * lb_width_of(stage);
	char *row = sines + half * lb_width_of(stage);
	double at = ((double)position + (double)job->rope->offset) * job->rope->scale;
	for (int64_t i = 0; i < half; i++)
		angles[i] = at * job->frequencies[i];
	job->tiles->elementwise(LB_OP_COS, LB_F64, LB_F64)(half, turned, angles, NULL, NULL);
	job->tiles->convert(stage, LB_F64)(half, cosines, turned, NULL, NULL);
	job->tiles->elementwise(LB_OP_SIN, LB_F64, LB_F64)(half, turned, angles, NULL, NULL);
	job->tiles->convert(stage, LB_F64)(half, sines, turned, NULL, NULL);
	for (int64_t r = 0; r < job->rows; r++) {
		int64_t index[LB_MAX_RANK];
		lb_index_of(batch, x->shape, r, index);
		const char *from = (const char *)x->data +
				   (lb_offset_of(batch, index, x->strides) + position * x->strides[batch]) * bytes;
		char *to = job->to + (r * x->shape[batch] + position) * n * bytes;
		const char *values = lb_row_in(job->tiles, x->dtype, from, n, x->strides[last], row);
		char *result = stage == (int)x->dtype ? to : row + n * lb_width_of(stage);
		job->tiles->rotate(half, job->rope->traditional, result, values, cosines, sines, stage);
		memcpy(result + 2 * half * lb_width_of(stage), values + 2 * half * lb_width_of(stage),
		       (size_t)((n - 2 * half) * lb_width_of(stage)));
		lb_row_out(job->tiles, x->dtype, to, result, n);
	}
}

bool lb_kernel_rope(struct lb_exec *exec, const struct lb_view *x, const struct lb_rope *rope, void *to)
{
	int last = x->rank - 1;
	if (last < 1 || !lb_dtype_is_float(x->dtype) || rope->dims < 0 || rope->dims % 2 || rope->dims > x->shape[last])
		return lb_fail("rope: not defined for %lld dim%s of %s with %d %s", (long long)rope->dims,
			       LB_S(rope->dims), lb_dtypes[x->dtype].name, x->rank, LB_PLURAL(x->rank, "axis", "axes"));
	int64_t size = lb_shape_size(x->rank, x->shape), n = x->shape[last], half = rope->dims / 2;
	if (size == 0)
		return true;
	double *frequencies = exec->scratch(exec, lb_bytes_of(half, 1, sizeof *frequencies));
	if (!frequencies)
		return false;
	const struct lb_tiles *tiles = lb_tiles();
	double power = log(rope->base);
	for (int64_t i = 0; i < half; i++)
		frequencies[i] = -(double)i * power / (double)half;
	tiles->elementwise(LB_OP_EXP, LB_F64, LB_F64)(half, frequencies, frequencies, NULL, NULL);
	struct job job = { .tiles = tiles,
			   .x = x,
			   .rope = rope,
			   .frequencies = frequencies,
			   .rows = size / n / x->shape[last - 1],
			   .to = to };
	int64_t work = job.rows * n + 16 * half;
	/* angles and what they turn to; cosines and sines; a row, and its result */
	int64_t bytes_each = sizeof(double) + 3 * lb_width_of(lb_stage_of(x->dtype));
	return lb_share(exec, x->shape[last - 1], GRAIN / work + 1, lb_bytes_of(n, bytes_each, 1), turn_position, &job);
}
