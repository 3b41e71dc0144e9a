/* Sampling by Gumbel's trick: the index of the largest logit + g is distributed as the softmax of
 * the logits, if g = -log(-log(u)) for independent uniform u. u has 32 bits, so g is below
 * HIGHEST, and most of a peaked distribution is passed over without drawing. Scalar libm in double:
 * the choice is the same on every machine. */
#include <math.h>

#include "base/plural.h"
#include "kernels/model.h"
#include "kernels/philox.h"
#include "kernels/row.h"
#include "kernels/share.h"

enum { GRAIN = 1 << 12 };
#define HIGHEST 22.9 /* more than 33 log(2) */

struct job {
	const struct lb_view *x;
	int axis;
	int64_t inner; /* row-major elements from one of a line to the next */
	uint64_t key;
	uint32_t *to;
};

static void draw_line(void *arg, void *scratch, int64_t line)
{
	(void)scratch;
	const struct job *job = arg;
	const struct lb_view *x = job->x;
	int64_t n = x->shape[job->axis], stride = x->strides[job->axis], bytes = lb_width_of(x->dtype);
	int64_t shape[LB_MAX_RANK], index[LB_MAX_RANK];
	memcpy(shape, x->shape, sizeof shape);
	shape[job->axis] = 1;
	lb_index_of(x->rank, shape, line, index);
	const char *from = (const char *)x->data + lb_offset_of(x->rank, index, x->strides) * bytes;
	int64_t first = line / job->inner * job->inner * n + line % job->inner;
	struct lb_philox_block block = { { 0 } };
	uint64_t drawn = UINT64_MAX;
	double best = -INFINITY;
	uint32_t choice = 0;
	for (int64_t i = 0; i < n; i++) {
		double logit = lb_load_double(from + i * stride * bytes, x->dtype);
		if (logit + HIGHEST <= best)
			continue;
		if (isnan(logit)) {
			choice = (uint32_t)i;
			break;
		}
		uint64_t at = (uint64_t)(first + i * job->inner);
		if (at / 4 != drawn) {
			drawn = at / 4;
			block = lb_philox(job->key, drawn, LB_PHILOX_CHOICES);
		}
		double value = logit - log(-log(((double)block.w[at % 4] + 0.5) * 0x1p-32));
		if (value > best) {
			best = value;
			choice = (uint32_t)i;
		}
	}
	job->to[line] = choice;
}

bool lb_kernel_categorical(struct lb_exec *exec, const struct lb_view *x, int axis, uint64_t key, uint32_t *to)
{
	if (axis < 0 || axis >= x->rank || x->shape[axis] == 0 || !lb_dtype_is_float(x->dtype))
		return lb_fail("categorical: not defined for %s, axis %d of %d %s", lb_dtypes[x->dtype].name, axis,
			       x->rank, LB_PLURAL(x->rank, "axis", "axes"));
	struct job job = { .x = x,
			   .axis = axis,
			   .key = key,
			   .to = to,
			   .inner = lb_shape_size(x->rank - axis - 1, x->shape + axis + 1) };
	int64_t n = x->shape[axis], lines = lb_shape_size(x->rank, x->shape) / n;
	return lb_share(exec, lines, GRAIN / n + 1, 0, draw_line, &job);
}
