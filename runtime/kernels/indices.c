#include "kernels/indices.h"

#include <stdio.h>

#include "kernels/layout.h"
#include "kernels/tile.h"

enum { CHUNK = 512 };

static bool out_of_range(const char *op, const char *index, int axis, int64_t size)
{
	return lb_fail("%s: index %s is out of range for axis %d of size %lld", op, index, axis, (long long)size);
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
	lb_tile_fn *convert = lb_tiles()->convert(LB_I64, indices->dtype);
	int64_t width = lb_width_of(indices->dtype), index[LB_MAX_RANK] = { 0 };
	char raw[CHUNK * 8] __attribute__((aligned(64)));
	for (int64_t at = 0; at < n; at += CHUNK) {
		int64_t m = n - at < CHUNK ? n - at : CHUNK;
		lb_gather(raw, indices->data, m, indices->rank, indices->shape, indices->strides, index, width);
		convert(m, list + at, raw, NULL, NULL);
		for (int64_t i = at; i < at + m; i++) {
			int64_t value = list[i];
			bool huge = indices->dtype == LB_U64 && value < 0;
			if (value < 0 && value >= -size && !huge)
				list[i] = value += size;
			if (value >= 0 && value < size)
				continue;
			char text[32];
			if (huge)
				snprintf(text, sizeof text, "%llu", (unsigned long long)value);
			else
				snprintf(text, sizeof text, "%lld", (long long)value);
			out_of_range(op, text, axis, size);
			return NULL;
		}
	}
	return list;
}
