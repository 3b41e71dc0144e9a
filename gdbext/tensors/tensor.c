#include "tensors/tensor.h"

#include <string.h>

#include "base/error.h"
#include "tensors/tensors.h"

static bool dense(const struct lbx_tensor *t, bool rows)
{
	int64_t expected = 1;

	if (t->size == 0)
		return true;
	for (int i = 0; i < t->rank; i++) {
		int axis = rows ? t->rank - 1 - i : i;
		if (lbx_shape(t)[axis] == 1)
			continue;
		if (lbx_strides(t)[axis] != expected)
			return false;
		expected *= lbx_shape(t)[axis]; /* at most size */
	}
	return true;
}

enum lbx_contiguity lbx_tensor_contiguity(const struct lbx_tensor *t)
{
	if (dense(t, true))
		return LBX_ROW_CONTIGUOUS;
	return dense(t, false) ? LBX_COLUMN_CONTIGUOUS : LBX_STRIDED;
}

struct lbx_encoding lbx_tensor_encoding(const struct lbx_tensor *t)
{
	return t->encoding ? *t->encoding : lbx_encoding_of_dtype(t->dtype);
}

const char *lbx_tensor_dtype_name(const struct lbx_tensor *t)
{
	return lbx_tensor_encoding(t).name;
}

const char *lbx_tensor_device(const struct lbx_tensor *t)
{
	const char *there = t->of && t->of->has_devices ? t->memory : t->state == LBX_ON_DEVICE ? t->place : NULL;

	return there ? there : t->state == LBX_ON_DEVICE ? "a device" : "cpu";
}

int64_t lbx_tensor_nbytes(const struct lbx_tensor *t)
{
	int64_t n;
	bool fits =
	    t->encoding ? lbx_encoding_bytes(t->encoding, t->size, &n) : lb_mul(t->size, lbx_dtype_bytes(t->dtype), &n);

	return fits ? n : INT64_MAX;
}

/* The lowest and the highest element that a tensor with elements reaches. */
static bool reach_of(const struct lbx_tensor *t, int64_t *ret_low, int64_t *ret_high)
{
	int64_t low = t->offset, high = t->offset, reach;

	for (int i = 0; i < t->rank; i++)
		if (!lb_mul(lbx_shape(t)[i] - 1, lbx_strides(t)[i], &reach) ||
		    !(reach < 0 ? lb_sum_of(low, reach, &low) : lb_sum_of(high, reach, &high)))
			return false;
	*ret_low = low;
	*ret_high = high;
	return low >= 0 && high < INT64_MAX;
}

bool lbx_tensor_lies_there(const struct lbx_tensor *t)
{
	return t->state == LBX_READY || t->state == LBX_UNSURE || t->state == LBX_EVALUATING;
}

bool lbx_tensor_in_bounds(const struct lbx_tensor *t)
{
	struct lbx_encoding e = lbx_tensor_encoding(t);
	int64_t low, high, bytes;

	if (t->size == 0)
		return true;
	return t->data && reach_of(t, &low, &high) && lbx_encoding_bytes(&e, high + 1, &bytes) &&
	       bytes <= t->buffer_bytes;
}

bool lbx_tensor_range(const struct lbx_tensor *t, uint64_t *ret_begin, uint64_t *ret_end)
{
	struct lbx_encoding e = lbx_tensor_encoding(t);
	int64_t low, high, at;

	*ret_begin = *ret_end = 0;
	if (t->size == 0 || !lbx_tensor_in_bounds(t) || !reach_of(t, &low, &high))
		return false;
	int64_t bytes = lbx_encoding_span(&e, low, high, &at);
	*ret_begin = t->data + (uint64_t)at;
	*ret_end = *ret_begin + (uint64_t)bytes;
	return true;
}
