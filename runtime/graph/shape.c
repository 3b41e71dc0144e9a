#include "graph/shape.h"

#include <stdio.h>

#include "base/error.h"
#include "base/op.h"
#include "base/plural.h"

const char *lb_shape_text(int rank, const int64_t *shape, char text[LB_SHAPE_TEXT])
{
	size_t used = 0;
	text[used++] = '(';
	for (int i = 0; i < rank && used < LB_SHAPE_TEXT - 24; i++)
		used += (size_t)snprintf(text + used, LB_SHAPE_TEXT - used, i ? ",%lld" : "%lld", (long long)shape[i]);
	snprintf(text + used, LB_SHAPE_TEXT - used, ")");
	return text;
}

bool lb_check_shape(const char *op, int rank, const int64_t *shape, enum lb_dtype dtype, int64_t *ret)
{
	if (rank < 0 || rank > LB_MAX_RANK)
		return lb_fail("%s: a tensor has at most %d axes, not %d", op, LB_MAX_RANK, rank);
	if (rank && !shape)
		return lb_fail("%s: a list of %d sizes is NULL", op, rank);
	int64_t size = 1, nbytes;
	bool fits = true, empty = false;
	for (int i = 0; i < rank; i++) {
		char text[LB_SHAPE_TEXT];
		if (shape[i] < 0)
			return lb_fail("%s: size %lld of axis %d in shape %s is negative", op, (long long)shape[i], i,
				       lb_shape_text(rank, shape, text));
		empty |= shape[i] == 0;
		fits = fits && lb_mul(size, shape[i] ? shape[i] : 1, &size);
	}
	if (!fits || !lb_mul(size, lb_dtypes[dtype].bytes, &nbytes)) {
		char text[LB_SHAPE_TEXT];
		return lb_fail("%s: shape %s of %s has more bytes than 63 bits can count", op,
			       lb_shape_text(rank, shape, text), lb_dtypes[dtype].name);
	}
	*ret = empty ? 0 : size;
	return true;
}

void lb_row_strides(int rank, const int64_t *shape, int64_t *strides)
{
	int64_t stride = 1;
	for (int i = rank; i-- > 0;) {
		strides[i] = stride;
		stride *= shape[i] ? shape[i] : 1;
	}
}

bool lb_is_row_major(int rank, const int64_t *shape, const int64_t *strides)
{
	for (int i = 0; i < rank; i++) {
		if (shape[i] == 0)
			return true;
	}
	int64_t stride = 1;
	for (int i = rank; i-- > 0;) {
		if (shape[i] != 1 && strides[i] != stride)
			return false;
		stride *= shape[i];
	}
	return true;
}

bool lb_broadcast(const char *op, int rank_a, const int64_t *a, int rank_b, const int64_t *b, int *rank, int64_t *shape)
{
	int n = rank_a > rank_b ? rank_a : rank_b;
	for (int i = 1; i <= n; i++) {
		int64_t x = i <= rank_a ? a[rank_a - i] : 1, y = i <= rank_b ? b[rank_b - i] : 1;
		if (x != y && x != 1 && y != 1) {
			char ta[LB_SHAPE_TEXT], tb[LB_SHAPE_TEXT];
			return lb_fail("%s: shapes %s and %s do not broadcast: %lld against %lld, axis %d "
				       "from the end",
				       op, lb_shape_text(rank_a, a, ta), lb_shape_text(rank_b, b, tb), (long long)x,
				       (long long)y, i);
		}
		shape[n - i] = x == 1 ? y : x;
	}
	*rank = n;
	return true;
}

void lb_broadcast_strides(int from_rank, const int64_t *from_shape, const int64_t *from_strides, int rank,
			  const int64_t *shape, int64_t *strides)
{
	for (int i = 1; i <= rank; i++) {
		bool moves = i <= from_rank && (from_shape[from_rank - i] != 1 || shape[rank - i] == 1);
		strides[rank - i] = moves ? from_strides[from_rank - i] : 0;
	}
}

bool lb_axis(const char *op, int64_t axis, lb_list shape, int added, int *ret)
{
	int rank = shape.n + added;
	if (axis < -rank || axis >= rank) {
		char text[LB_SHAPE_TEXT];
		lb_shape_text(shape.n, shape.v, text);
		return added ? lb_fail("%s: axis %lld is out of range for %s with %d more", op, (long long)axis, text,
				       added)
			     : lb_fail("%s: axis %lld is out of range for %s", op, (long long)axis, text);
	}
	*ret = (int)(axis < 0 ? axis + rank : axis);
	return true;
}

bool lb_axis_mask(const char *op, lb_list axes, lb_list shape, int added, uint32_t *ret)
{
	int rank = shape.n + added;
	if (axes.n > 0 && !axes.v)
		return lb_fail("%s: a list of %d %s is NULL", op, axes.n, LB_PLURAL(axes.n, "axis", "axes"));
	if (axes.n < 0) {
		*ret = (1u << rank) - 1;
		return true;
	}
	uint32_t mask = 0;
	for (int i = 0; i < axes.n; i++) {
		int axis = 0;
		if (!lb_axis(op, axes.v[i], shape, added, &axis))
			return false;
		if (mask & 1u << axis) {
			char text[LB_SHAPE_TEXT];
			return lb_fail("%s: axis %d of %s is named twice", op, axis,
				       lb_shape_text(shape.n, shape.v, text));
		}
		mask |= 1u << axis;
	}
	*ret = mask;
	return true;
}

void lb_reduced_shape(int rank, const int64_t *shape, uint32_t mask, bool keepdims, int *ret_rank, int64_t *ret_shape)
{
	int n = 0;
	for (int i = 0; i < rank; i++) {
		if (!(mask & 1u << i))
			ret_shape[n++] = shape[i];
		else if (keepdims)
			ret_shape[n++] = 1;
	}
	*ret_rank = n;
}

bool lb_reshape_strides(int rank, const int64_t *shape, const int64_t *strides, int to_rank, const int64_t *to_shape,
			int64_t *to_strides)
{
	/* Both shapes are cut into the shortest pieces of equal size; each old piece must be
	 * uniformly strided (NumPy's _attempt_nocopy_reshape). Axes of size 1 do not count. */
	int64_t old_shape[LB_MAX_RANK], old_strides[LB_MAX_RANK];
	int n = 0;
	for (int i = 0; i < rank; i++) {
		if (shape[i] == 0) {
			lb_row_strides(to_rank, to_shape, to_strides);
			return true;
		}
		if (shape[i] != 1) {
			old_shape[n] = shape[i];
			old_strides[n++] = strides[i];
		}
	}
	int from = 0, to = 0;
	while (from < n) {
		while (to < to_rank && to_shape[to] == 1)
			to++;
		int from_end = from + 1, to_end = to + 1;
		int64_t from_size = old_shape[from], to_size = to_shape[to];
		while (from_size != to_size) {
			if (from_size < to_size)
				from_size *= old_shape[from_end++];
			else
				to_size *= to_shape[to_end++];
		}
		for (int i = from; i < from_end - 1; i++) {
			if (old_strides[i] != old_shape[i + 1] * old_strides[i + 1])
				return false;
		}
		int64_t stride = old_strides[from_end - 1];
		for (int i = to_end; i-- > to;) {
			to_strides[i] = stride;
			stride *= to_shape[i];
		}
		from = from_end;
		to = to_end;
	}
	/* axes of size 1 that no piece covered: any stride shows the same element */
	int64_t stride = 1;
	for (int i = to_rank; i-- > 0;) {
		if (to_shape[i] == 1)
			to_strides[i] = stride;
		stride = to_strides[i] * to_shape[i];
	}
	return true;
}

bool lb_strided_reach(int rank, const int64_t *shape, const int64_t *strides, int64_t offset, int64_t *ret_low,
		      int64_t *ret_high)
{
	*ret_low = *ret_high = offset;
	for (int i = 0; i < rank; i++) {
		if (shape[i] == 0)
			return true;
	}
	for (int i = 0; i < rank; i++) {
		int64_t reach, *end;
		if (!lb_mul(shape[i] - 1, strides[i], &reach))
			return false;
		end = reach < 0 ? ret_low : ret_high;
		if (!lb_sum_of(*end, reach, end))
			return false;
	}
	return true;
}
