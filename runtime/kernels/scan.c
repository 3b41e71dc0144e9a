/* Running sums. The elements are copied to where the result goes, as (outer, n, inner), and summed
 * in place: lanes of `inner` neighbours go along the axis together. */
#include "base/plural.h"
#include "kernels/half.h"
#include "kernels/model.h"
#include "kernels/row.h"
#include "kernels/share.h"

enum { LANES = 64, GRAIN = 1 << 14 };

struct job {
	char *to;
	int dtype;
	int64_t n, inner, lanes; /* lanes: at a time */
	bool reverse, inclusive;
};

#define SAME(x) (x)
#define SCAN(T, A, load, store) \
	do { \
		A sums[LANES] = { 0 }; \
		T *at = (T *)(void *)job->to + first; \
		for (int64_t i = 0; i < job->n; i++) { \
			T *row = at + (job->reverse ? job->n - 1 - i : i) * job->inner; \
			for (int64_t l = 0; l < m; l++) { \
				A before = sums[l]; \
				sums[l] += (A)load(row[l]); \
				row[l] = (T)store(job->inclusive ? sums[l] : before); \
			} \
		} \
	} while (0)

static inline uint16_t to_f16(double x)
{
	return lb_float_to_f16((float)x);
}

static inline uint16_t to_bf16(double x)
{
	return lb_float_to_bf16((float)x);
}

static void scan_lanes(void *arg, void *scratch, int64_t task)
{
	(void)scratch;
	const struct job *job = arg;
	int64_t blocks = (job->inner + job->lanes - 1) / job->lanes, lane = task % blocks * job->lanes;
	int64_t first = task / blocks * job->n * job->inner + lane;
	int64_t m = job->inner - lane < job->lanes ? job->inner - lane : job->lanes;
	switch (job->dtype) {
	case LB_U8:
	case LB_I8: SCAN(uint8_t, uint32_t, SAME, SAME); break;
	case LB_U16:
	case LB_I16: SCAN(uint16_t, uint32_t, SAME, SAME); break;
	case LB_U32:
	case LB_I32: SCAN(uint32_t, uint32_t, SAME, SAME); break;
	case LB_U64:
	case LB_I64: SCAN(uint64_t, uint64_t, SAME, SAME); break;
	case LB_F16: SCAN(uint16_t, double, lb_f16_to_float, to_f16); break;
	case LB_BF16: SCAN(uint16_t, double, lb_bf16_to_float, to_bf16); break;
	case LB_F32: SCAN(float, double, SAME, SAME); break;
	case LB_F64: SCAN(double, double, SAME, SAME); break;
	}
}

bool lb_kernel_cumsum(struct lb_exec *exec, const struct lb_view *x, int axis, bool reverse, bool inclusive, void *to)
{
	if (axis < 0 || axis >= x->rank || x->dtype == LB_BOOL)
		return lb_fail("cumsum: not defined for %s, axis %d of %d %s", lb_dtypes[x->dtype].name, axis, x->rank,
			       LB_PLURAL(x->rank, "axis", "axes"));
	struct lb_view dense = *x;
	dense.data = to;
	int64_t size = 1;
	for (int i = x->rank - 1; i >= 0; i--) {
		dense.strides[i] = size;
		size *= x->shape[i];
	}
	if (size == 0)
		return true;
	if (!lb_kernel_copy(exec, &dense, x))
		return false;
	bool complex = x->dtype == LB_C64; /* two floats */
	struct job job = { .to = to,
			   .dtype = complex ? LB_F32 : (int)x->dtype,
			   .n = x->shape[axis],
			   .inner = dense.strides[axis] * (complex ? 2 : 1),
			   .reverse = reverse,
			   .inclusive = inclusive };
	job.lanes = job.inner < LANES ? job.inner : LANES;
	int64_t blocks = (job.inner + job.lanes - 1) / job.lanes, lines = size / job.n / dense.strides[axis];
	return lb_share(exec, lines * blocks, GRAIN / (job.n * job.lanes) + 1, 0, scan_lanes, &job);
}
