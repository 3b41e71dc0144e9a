#include "tensors/tensor.h"

#include <string.h>

#include "base/error.h"
#include "base/op.h"

int64_t lbx_dtype_bytes(enum lb_dtype dtype)
{
	return (unsigned)dtype < LB_DTYPES ? lb_dtypes[dtype].bytes : 0;
}

const char *lbx_dtype_name(enum lb_dtype dtype)
{
	return (unsigned)dtype < LB_DTYPES ? lb_dtypes[dtype].name : "?";
}

bool lbx_dtype_parse(const char *text, enum lb_dtype *ret)
{
	static const char *const names[LB_DTYPES] = {
		"bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64",
		"f16", "bf16", "f32", "f64", "c64",
	};

	for (int i = 0; i < LB_DTYPES; i++)
		if (strcmp(lbx_dtype_name((enum lb_dtype)i), text) == 0 || strcmp(names[i], text) == 0) {
			*ret = (enum lb_dtype)i;
			return true;
		}
	return false;
}

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

int64_t lbx_tensor_nbytes(const struct lbx_tensor *t)
{
	int64_t n;
	return lb_mul(t->size, lbx_dtype_bytes(t->dtype), &n) ? n : INT64_MAX;
}

bool lbx_tensor_in_bounds(const struct lbx_tensor *t)
{
	int64_t low = t->offset, high = t->offset, bytes, reach;

	if (t->size == 0)
		return true;
	if (t->data == 0)
		return false;
	for (int i = 0; i < t->rank; i++) {
		if (!lb_mul(lbx_shape(t)[i] - 1, lbx_strides(t)[i], &reach))
			return false;
		if (!(reach < 0 ? lb_sum_of(low, reach, &low) : lb_sum_of(high, reach, &high)))
			return false;
	}
	return low >= 0 && high < INT64_MAX &&
	       lb_mul(high + 1, lbx_dtype_bytes(t->dtype), &bytes) && bytes <= t->buffer_bytes;
}
