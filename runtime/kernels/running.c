/* Running sums, products, maxima, minima and logarithms of sums in the dtype itself: what each step gives is rounded. Lines are walked as they lie. */
#include <complex.h>
#include <math.h>

#include "base/plural.h"
#include "kernels/half.h"
#include "kernels/model.h"
#include "kernels/row.h"
#include "kernels/share.h"
#include "lazybones.h"

enum { GRAIN = 1 << 12 };

struct job {
	const struct lb_view *x; /* with the axis last */
	void *to;
	int64_t n, apart; /* along the axis, in `to` */
	int64_t outer_strides[LB_MAX_RANK]; /* of `to` */
	int kind;
	bool reverse, inclusive;
};

#define SAME(x) (x)
#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
#define EITHER(a, b) ((a) | (b))
#define BOTH(a, b) ((a) & (b))
#define MAX(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) != (a) || (a) < (b) ? (a) : (b))

static double log_add(double a, double b)
{
	return (a > b ? a : b) + log1p(exp(a == b ? 0 : -fabs(a - b)));
}

/* The plain formula, as of elementwise products. */
static float complex complex_product(float complex a, float complex b)
{
	float complex z;
	__real__ z = crealf(a) * crealf(b) - cimagf(a) * cimagf(b);
	__imag__ z = crealf(a) * cimagf(b) + cimagf(a) * crealf(b);
	return z;
}

/* Elements are of type T, and are computed as A, in which `round` keeps what T can hold. */
#define RUN(T, A, load, store, begin, step) \
	do { \
		const T *from = (const T *)job->x->data + at; \
		T *to = (T *)job->to + out; \
		A so_far = (A)(begin); \
		for (int64_t i = 0; i < job->n; i++) { \
			int64_t k = job->reverse ? job->n - 1 - i : i; \
			T before = (T)store(so_far), after; \
			A element = (A) \
			    load(from[k * stride]); /* the first as it is: complex 1 * x may be NaN where x is not */ \
			after = (T)store(i == 0 ? element : (A)step(so_far, element)); \
			so_far = (A)load(after); \
			to[k * job->apart] = job->inclusive ? after : before; \
		} \
		return; \
	} while (0)
#define KINDS(T, A, load, store, least, most) \
	switch (job->kind) { \
	case LB_SCAN_SUM: RUN(T, A, load, store, 0, SUM); \
	case LB_SCAN_PROD: RUN(T, A, load, store, 1, PROD); \
	case LB_SCAN_MAX: RUN(T, A, load, store, least, MAX); \
	case LB_SCAN_LOGADDEXP: RUN(T, A, load, store, least, log_add); \
	default: RUN(T, A, load, store, most, MIN); \
	}
/* Integers wrap: sums and products are of the unsigned type U. */
#define INTEGERS(T, U, least, most) \
	switch (job->kind) { \
	case LB_SCAN_SUM: RUN(T, U, SAME, SAME, 0, SUM); \
	case LB_SCAN_PROD: RUN(T, U, SAME, SAME, 1, PROD); \
	case LB_SCAN_MAX: RUN(T, T, SAME, SAME, least, MAX); \
	default: RUN(T, T, SAME, SAME, most, MIN); \
	}

static void run_line(void *arg, void *scratch, int64_t line)
{
	(void)scratch;
	const struct job *job = arg;
	const struct lb_view *x = job->x;
	int64_t index[LB_MAX_RANK], stride = x->strides[x->rank - 1];

	lb_index_of(x->rank - 1, x->shape, line, index);
	int64_t at = lb_offset_of(x->rank - 1, index, x->strides);
	int64_t out = lb_offset_of(x->rank - 1, index, job->outer_strides);
	switch ((int)x->dtype) {
	case LB_BOOL:
		if (job->kind == LB_SCAN_MAX || job->kind == LB_SCAN_SUM)
			RUN(uint8_t, uint8_t, SAME, SAME, 0, EITHER);
		RUN(uint8_t, uint8_t, SAME, SAME, 1, BOTH);
	case LB_U8: INTEGERS(uint8_t, uint32_t, 0, UINT8_MAX);
	case LB_U16: INTEGERS(uint16_t, uint32_t, 0, UINT16_MAX);
	case LB_U32: INTEGERS(uint32_t, uint32_t, 0, UINT32_MAX);
	case LB_U64: INTEGERS(uint64_t, uint64_t, 0, UINT64_MAX);
	case LB_I8: INTEGERS(int8_t, uint32_t, INT8_MIN, INT8_MAX);
	case LB_I16: INTEGERS(int16_t, uint32_t, INT16_MIN, INT16_MAX);
	case LB_I32: INTEGERS(int32_t, uint32_t, INT32_MIN, INT32_MAX);
	case LB_I64: INTEGERS(int64_t, uint64_t, INT64_MIN, INT64_MAX);
	case LB_F16: KINDS(uint16_t, float, lb_f16_to_float, lb_float_to_f16, -INFINITY, INFINITY);
	case LB_BF16: KINDS(uint16_t, float, lb_bf16_to_float, lb_float_to_bf16, -INFINITY, INFINITY);
	case LB_F32: KINDS(float, float, SAME, SAME, -INFINITY, INFINITY);
	case LB_F64: KINDS(double, double, SAME, SAME, -(double)INFINITY, (double)INFINITY);
	case LB_C64:
		if (job->kind == LB_SCAN_SUM)
			RUN(float complex, float complex, SAME, SAME, 0, SUM);
		RUN(float complex, float complex, SAME, SAME, 1, complex_product);
	}
}

bool lb_kernel_scan(struct lb_exec *exec, const struct lb_view *x, int kind, int axis, bool reverse, bool inclusive,
		    void *to)
{
	struct job job = { .to = to, .kind = kind, .reverse = reverse, .inclusive = inclusive };
	struct lb_view turned = *x;
	int64_t size = 1;

	if (axis < 0 || axis >= x->rank || kind < LB_SCAN_SUM || kind > LB_SCAN_LOGADDEXP ||
	    (x->dtype == LB_C64 && kind > LB_SCAN_PROD) ||
	    (kind == LB_SCAN_LOGADDEXP && !lb_dtype_is_float((int)x->dtype)))
		return lb_fail("scan: not defined for %s, axis %d of %d %s", lb_dtypes[x->dtype].name, axis, x->rank,
			       LB_PLURAL(x->rank, "axis", "axes"));
	for (int i = x->rank; i-- > 0; size *= x->shape[i])
		job.outer_strides[i] = size;
	if (size == 0)
		return true;
	lb_put_last(x->rank, axis, turned.shape);
	lb_put_last(x->rank, axis, turned.strides);
	lb_put_last(x->rank, axis, job.outer_strides);
	job.x = &turned;
	job.n = x->shape[axis];
	job.apart = job.outer_strides[x->rank - 1];
	return lb_share(exec, size / job.n, GRAIN / job.n + 1, 0, run_line, &job);
}
