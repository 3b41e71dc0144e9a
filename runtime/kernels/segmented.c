/* Products of ranges of a matrix's columns with the same rows of another. */
#include <string.h>

#include "base/error.h"
#include "kernels/again.h"
#include "kernels/layout.h"
#include "kernels/model.h"

static bool range_of(const struct lb_view *segments, int64_t which, int64_t k, int64_t *range)
{
	for (int i = 0; i < 2; i++) {
		int64_t index[LB_MAX_RANK];
		lb_index_of(segments->rank, segments->shape, 2 * which + i, index);
		range[i] =
		    lb_load_int((const char *)segments->data + lb_offset_of(segments->rank, index, segments->strides) *
								   lb_width_of(segments->dtype),
				segments->dtype);
	}
	return (range[0] >= 0 && range[1] >= 0 && range[0] <= k && range[1] <= k) ||
	       lb_fail("segmented_mm: segment %lld is from %lld to %lld, which does not lie in the %lld columns of a",
		       (long long)which, (long long)range[0], (long long)range[1], (long long)k);
}

bool lb_kernel_segmented_mm(struct lb_exec *exec, const struct lb_view *a, const struct lb_view *b,
			    const struct lb_view *segments, void *to)
{
	if (a->rank != 2 || b->rank != 2 || a->dtype != b->dtype || a->shape[1] != b->shape[0] || segments->rank < 1 ||
	    segments->shape[segments->rank - 1] != 2 || segments->dtype < LB_U8 || segments->dtype > LB_I64)
		return lb_fail("segmented_mm: shapes of the matrices do not match");
	int64_t n = lb_shape_size(segments->rank, segments->shape) / 2;
	int64_t size = a->shape[0] * b->shape[1] * lb_width_of(a->dtype), range[2];
	struct lb_again again;
	lb_again_begin(&again, exec);
	for (int64_t i = 0; i < n; i++) {
		if (!range_of(segments, i, a->shape[1], range))
			return false;
		char *product = (char *)to + i * size;
		if (size == 0)
			continue;
		if (range[1] <= range[0]) {
			memset(product, 0, (size_t)size);
			continue;
		}
		struct lb_view x = *a, y = *b;
		x.data = (char *)x.data + range[0] * x.strides[1] * lb_width_of(x.dtype);
		y.data = (char *)y.data + range[0] * y.strides[0] * lb_width_of(y.dtype);
		x.shape[1] = y.shape[0] = range[1] - range[0];
		if (!lb_kernel_matmul(lb_again_next(&again), &x, &y, NULL, 1, 0, product))
			return false;
	}
	return true;
}
