/* take and take_along_axis: indices are read and checked, then elements are moved without any check; all of them first
 * where they serve again, else a stretch at a time. A processor does not foresee what indices point at: it is asked for. */
#include "base/plural.h"
#include "kernels/indices.h"
#include "kernels/layout.h"
#include "kernels/prefetch.h"
#include "kernels/tile.h"

enum {
	GRAIN_BYTES = 1 << 17,
	AHEAD = 16, /* blocks */
	BLOCK_MOST = 1 << 12, /* bytes: once a larger one is begun, a processor sees the rest coming */
	ROW_MOST = 1 << 15, /* bytes of a row that stays in the second cache while it is used */
};

/* All lines that some bytes are part of. */
static void ask_for(const char *from, int64_t bytes)
{
	size_t before = (uintptr_t)from % 64;
	lb_prefetch(from - before, before + (size_t)bytes);
}

struct take {
	const char *x;
	char *to;
	const int64_t *indices;
	int64_t n_indices, bytes, stride;
	int n_outer, n_inner;
	int64_t outer[LB_MAX_RANK], outer_strides[LB_MAX_RANK];
	int64_t inner[LB_MAX_RANK], inner_strides[1][LB_MAX_RANK];
	int64_t n_each; /* elements of an inner block */
};

/* Units are (outer index, index) pairs. */
static void take_range(void *arg, int64_t begin, int64_t end)
{
	const struct take *take = arg;
	int64_t bytes = take->bytes, block = take->n_each * bytes;
	bool dense = take->n_inner == 1 && take->inner_strides[0][0] == 1;
	while (begin < end) {
		int64_t index[LB_MAX_RANK], first = begin % take->n_indices;
		int64_t n = take->n_indices - first;
		n = n > end - begin ? end - begin : n;
		lb_index_of(take->n_outer, take->outer, begin / take->n_indices, index);
		const char *from = take->x + lb_offset_of(take->n_outer, index, take->outer_strides) * bytes;
		char *to = take->to + begin * block;
		if (take->n_inner == 0)
			lb_tiles()->pick(n, to, from, take->indices + first, 0, take->stride, bytes);
		for (int64_t i = 0; take->n_inner > 0 && i < n; i++, to += block) {
			const char *at = from + take->indices[first + i] * take->stride * bytes;
			if (dense) {
				if (block <= BLOCK_MOST && n - i > AHEAD)
					ask_for(from + take->indices[first + i + AHEAD] * take->stride * bytes, block);
				memcpy(to, at, (size_t)block);
				continue;
			}
			int64_t start[LB_MAX_RANK] = { 0 };
			lb_gather(to, at, take->n_each, take->n_inner, take->inner, take->inner_strides[0], start,
				  bytes);
		}
		begin += n;
	}
}

bool lb_kernel_take(struct lb_exec *exec, const struct lb_view *x, const struct lb_view *indices, int axis, void *to)
{
	if (axis < 0 || axis >= x->rank)
		return lb_fail("take: axis %d of an array of %d %s", axis, x->rank, LB_PLURAL(x->rank, "axis", "axes"));
	struct take take = { .x = x->data,
			     .to = to,
			     .bytes = lb_width_of(x->dtype),
			     .stride = x->strides[axis],
			     .n_each = 1,
			     .n_indices = lb_shape_size(indices->rank, indices->shape) };
	int64_t n_outer = 1;
	for (int i = 0; i < x->rank; i++) {
		if (i < axis) {
			take.outer[take.n_outer] = x->shape[i];
			take.outer_strides[take.n_outer++] = x->strides[i];
			n_outer *= x->shape[i];
		} else if (i > axis) {
			take.inner[take.n_inner] = x->shape[i];
			take.inner_strides[0][take.n_inner++] = x->strides[i];
			take.n_each *= x->shape[i];
		}
	}
	take.indices = lb_read_indices(exec, "take", indices, axis, x->shape[axis]);
	if (!take.indices)
		return false;
	if (n_outer == 0 || take.n_indices == 0 || take.n_each == 0)
		return true;
	take.n_inner = lb_join_axes(take.n_inner, take.inner, 1, take.inner_strides);
	lb_parallel(exec, n_outer * take.n_indices, GRAIN_BYTES / (take.n_each * take.bytes) + 1, take_range, &take);
	return true;
}

struct along {
	const char *x;
	char *to;
	const struct lb_view *indices;
	int rank;
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK]; /* of x, 0 along the axis */
	int64_t stride, size, bytes; /* stride, size: of the axis */
	bool outside; /* an index is */
};

/* Of the row of x after `row`, as large a part as the n indices, with `done` before them, are of a row of indices: so much of it
 * is asked for at each stretch. Only of dense rows, of which most will be used. */
static void ask_for_next(const struct along *along, const char *row, int64_t done, int64_t n)
{
	int last = along->rank - 1;
	int64_t all = along->shape[last], size = along->size, step = last > 0 ? along->strides[last - 1] : 0;
	if (along->strides[last] || along->stride != 1 || step == 0 || size * along->bytes > ROW_MOST || all < size)
		return;
	int64_t begin = size * done / all, end = size * (done + n) / all;
	ask_for(row + (step + begin) * along->bytes, (end - begin) * along->bytes);
}

/* Indices are read a stretch of a row at a time, and used while they are near. */
static void along_range(void *arg, int64_t begin, int64_t end)
{
	struct along *along = arg;
	int last = along->rank - 1;
	int64_t index[LB_MAX_RANK], bytes = along->bytes, list[LB_INDICES_MOST];
	lb_index_of(along->rank, along->shape, begin, index);
	while (begin < end) {
		int64_t n = along->shape[last] - index[last];
		n = n > end - begin ? end - begin : n;
		n = n > LB_INDICES_MOST ? LB_INDICES_MOST : n;
		const char *from = along->x + lb_offset_of(along->rank, index, along->strides) * bytes;
		ask_for_next(along, from, index[last], n);
		if (!lb_next_indices(along->indices, index, n, along->size, list)) {
			__atomic_store_n(&along->outside, true, __ATOMIC_RELAXED);
			return;
		}
		lb_tiles()->pick(n, along->to + begin * bytes, from, list, along->strides[last], along->stride, bytes);
		begin += n;
	}
}

bool lb_kernel_take_along(struct lb_exec *exec, const struct lb_view *x, const struct lb_view *indices, int axis,
			  void *to)
{
	if (axis < 0 || axis >= x->rank || indices->rank != x->rank)
		return lb_fail("take_along_axis: axis %d, array of %d %s, indices of %d", axis, x->rank,
			       LB_PLURAL(x->rank, "axis", "axes"), indices->rank);
	struct along along = { .x = x->data,
			       .to = to,
			       .indices = indices,
			       .rank = x->rank,
			       .stride = x->strides[axis],
			       .size = x->shape[axis],
			       .bytes = lb_width_of(x->dtype) };
	for (int i = 0; i < x->rank; i++) {
		if (i != axis && indices->shape[i] != x->shape[i])
			return lb_fail("take_along_axis: axis %d has size %lld, its indices %lld", i,
				       (long long)x->shape[i], (long long)indices->shape[i]);
		along.shape[i] = indices->shape[i];
		along.strides[i] = i == axis ? 0 : x->strides[i];
	}
	int64_t n = lb_shape_size(along.rank, along.shape);
	if (n == 0)
		return true;
	if (indices->dtype >= LB_U8 && indices->dtype <= LB_I64)
		lb_parallel(exec, n, GRAIN_BYTES / along.bytes, along_range, &along);
	else
		along.outside = true;
	return !along.outside || lb_read_indices(exec, "take_along_axis", indices, axis, x->shape[axis]);
}
