#include <math.h>

#include "kernels/layout.h"
#include "kernels/tile.h"

/* Steps that are small enough to find the first one quickly, once there is one. */
enum { STEP = 4096 };

static bool bad_at(const char *data, int dtype, int64_t i)
{
	return lb_tiles()->nonfinite(data + i * lb_width_of(dtype), dtype, 1) != 0;
}

int64_t lb_count_nonfinite(const void *data, enum lb_dtype dtype, int64_t n, int64_t *first)
{
	if (!lb_dtype_is_inexact(dtype) || n <= 0)
		return 0;
	if (!first)
		return lb_tiles()->nonfinite(data, dtype, n);
	const char *at = data;
	for (int64_t begin = 0; begin < n; begin += STEP) {
		int64_t m = n - begin < STEP ? n - begin : STEP;
		if (lb_tiles()->nonfinite(at + begin * lb_width_of(dtype), dtype, m) == 0)
			continue;
		for (*first = begin; !bad_at(data, dtype, *first);)
			++*first;
		return 1;
	}
	return 0;
}

/* One axis at a time, the last one first. */
static void extremes_along(const char *at, const struct lb_view *x, int axis, double *low, double *high)
{
	int64_t step = x->rank ? x->strides[axis] * lb_width_of(x->dtype) : 0;
	int64_t n = x->rank ? x->shape[axis] : 1;
	if (axis < x->rank - 1) {
		for (int64_t i = 0; i < n; i++)
			extremes_along(at + i * step, x, axis + 1, low, high);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		double value = lb_load_double(at + i * step, x->dtype);
		*low = value < *low ? value : *low;
		*high = value > *high || value != value ? value : *high;
	}
}

void lb_find_extremes(const struct lb_view *x, double *low, double *high)
{
	*low = (double)INFINITY;
	*high = -(double)INFINITY;
	extremes_along(x->data, x, 0, low, high);
}
