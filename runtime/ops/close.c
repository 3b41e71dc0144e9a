/* Whether tensors are the same, or nearly. */
#include "graph/promote.h"
#include "graph/shape.h"

/* NaN in both places. */
static struct lb_tensor *both_nan(struct lb_tensor *a, struct lb_tensor *b)
{
	return lb_logical_and(lb_isnan(a), lb_isnan(b));
}

/* |a - b|, of integers of 64 bits in all digits, then in double. */
static struct lb_tensor *distance(struct lb_tensor *a, struct lb_tensor *b)
{
	if (a && (a->dtype == LB_I64 || a->dtype == LB_U64)) {
		struct lb_tensor *most = lb_astype(lb_maximum(a, b), LB_U64),
				 *least = lb_astype(lb_minimum(a, b), LB_U64);
		return lb_astype(lb_subtract(most, least), LB_F64);
	}
	return lb_abs(lb_subtract(a, b));
}

/* Differences are taken where they neither wrap nor lose digits: of integers in double, or their own dtype, of halves in float. */
static struct lb_tensor *close_elements(const char *name, struct lb_tensor *a, struct lb_tensor *b, double rtol,
					double atol, bool equal_nan)
{
	if (!LB_GIVEN(name, a) || !LB_GIVEN(name, b))
		return NULL;
	enum lb_dtype dtype;
	int rank;
	int64_t shape[LB_MAX_RANK];
	struct lb_tensor *xs[2] = { a, b };
	if (!lb_broadcast(name, a->rank, a->shape, b->rank, b->shape, &rank, shape) ||
	    !lb_common_dtype(name, 2, xs, &dtype, lb_fail_site_now()))
		return NULL;
	bool is_long = dtype == LB_I64 || dtype == LB_U64;
	if (!is_long)
		dtype = !lb_dtype_is_inexact(dtype) ? LB_F64 : dtype == LB_F16 || dtype == LB_BF16 ? LB_F32 : dtype;
	a = lb_astype(a, dtype);
	b = lb_astype(b, dtype);
	struct lb_tensor *wide = is_long ? lb_astype(b, LB_F64) : b;
	struct lb_tensor *room = lb_add(lb_scalar(atol), lb_multiply(lb_scalar(rtol), lb_abs(wide)));
	struct lb_tensor *near = lb_less_equal(distance(a, b), room);
	if (is_long)
		return near;
	struct lb_tensor *finite = lb_logical_and(lb_isfinite(a), lb_isfinite(b));
	struct lb_tensor *y = lb_where(finite, near, lb_equal(a, b));
	return equal_nan ? lb_logical_or(y, both_nan(a, b)) : y;
}

lb_tensor *lb_isclose(lb_tensor *a, lb_tensor *b, double rtol, double atol, bool equal_nan)
{
	LB_ENTER_WHOLE();
	return close_elements("isclose", a, b, rtol, atol, equal_nan);
}

lb_tensor *lb_allclose(lb_tensor *a, lb_tensor *b, double rtol, double atol, bool equal_nan)
{
	LB_ENTER_WHOLE();
	struct lb_tensor *y = close_elements("allclose", a, b, rtol, atol, equal_nan);
	return y ? lb_all(y, LB_ALL_AXES, false) : NULL;
}

lb_tensor *lb_array_equal(lb_tensor *a, lb_tensor *b, bool equal_nan)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("array_equal", a) || !LB_GIVEN("array_equal", b))
		return NULL;
	if (!lb_same_shape(a->rank, a->shape, b->rank, b->shape))
		return lb_zeros(LB_SHAPE(), LB_BOOL);
	struct lb_tensor *same = lb_equal(a, b);
	return lb_all(equal_nan ? lb_logical_or(same, both_nan(a, b)) : same, LB_ALL_AXES, false);
}
