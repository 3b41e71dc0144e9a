#include "kernels/indices.h"

#include <stdio.h>

#include "kernels/layout.h"
#include "kernels/tile.h"

static bool out_of_range(const char *op, const char *index, int axis, int64_t size)
{
	return lb_fail("%s: index %s is out of range for axis %d of size %lld", op, index, axis, (long long)size);
}

bool lb_next_indices(const struct lb_view *indices, int64_t *index, int64_t n, int64_t size, int64_t *to)
{
	char raw[LB_INDICES_MOST * 8] __attribute__((aligned(64)));
	int64_t width = lb_width_of(indices->dtype);
	int last = indices->rank - 1;
	const void *from = raw;
	if (last >= 0 && indices->strides[last] == 1 && n <= indices->shape[last] - index[last]) {
		from = (const char *)indices->data + lb_offset_of(indices->rank, index, indices->strides) * width;
		index[last] += n;
		if (index[last] == indices->shape[last]) {
			index[last] = 0;
			lb_next_row(indices->rank, indices->shape, indices->strides, index, 0);
		}
	} else {
		lb_gather(raw, indices->data, n, indices->rank, indices->shape, indices->strides, index, width);
	}
	lb_tiles()->convert(LB_I64, indices->dtype)(n, to, from, NULL, NULL);
	return lb_tiles()->indices(n, to, size, indices->dtype == LB_U64);
}

/* Of n indices the first that is out of range. */
static bool say_which(const char *op, const struct lb_view *indices, int64_t at, int64_t n, int axis, int64_t size)
{
	for (; n > 0; at++, n--) {
		int64_t index[LB_MAX_RANK];
		lb_index_of(indices->rank, indices->shape, at, index);
		const char *from = (const char *)indices->data +
				   lb_offset_of(indices->rank, index, indices->strides) * lb_width_of(indices->dtype);
		int64_t value = lb_load_int(from, indices->dtype);
		bool huge = indices->dtype == LB_U64 && value < 0;
		if (!huge && value >= -size && value < size)
			continue;
		char text[32];
		if (huge)
			snprintf(text, sizeof text, "%llu", (unsigned long long)value);
		else
			snprintf(text, sizeof text, "%lld", (long long)value);
		return out_of_range(op, text, axis, size);
	}
	return lb_fail("%s: an index changed while it was read", op);
}

const int64_t *lb_read_indices(struct lb_exec *exec, const char *op, const struct lb_view *indices, int axis,
			       int64_t size)
{
	if (indices->dtype < LB_U8 || indices->dtype > LB_I64) {
		lb_fail("%s: indices are %s; use an integer dtype", op, lb_dtypes[indices->dtype].name);
		return NULL;
	}
	int64_t n = lb_shape_size(indices->rank, indices->shape), bytes;
	if (!lb_mul(n, 8, &bytes)) {
		lb_fail("%s: %lld indices are too many", op, (long long)n);
		return NULL;
	}
	int64_t *list = exec->scratch(exec, bytes > 0 ? bytes : 8);
	if (!list)
		return NULL;
	int64_t index[LB_MAX_RANK] = { 0 };
	for (int64_t at = 0; at < n; at += LB_INDICES_MOST) {
		int64_t m = n - at < LB_INDICES_MOST ? n - at : LB_INDICES_MOST;
		if (lb_next_indices(indices, index, m, size, list + at))
			continue;
		say_which(op, indices, at, m, axis, size);
		return NULL;
	}
	return list;
}
