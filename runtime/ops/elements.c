/* Functions of elements that are made of others, and fuse as these do. Halves are cast to float, and back at the end: one
 * rounding. */
#include <math.h>
#include <stdlib.h>

#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/view.h"

lb_tensor *lb_reciprocal(lb_tensor *x)
{
	LB_ENTER_WHOLE();
	return LB_GIVEN("reciprocal", x) ? lb_divide(lb_scalar(1), x) : NULL;
}

lb_tensor *lb_positive(lb_tensor *x)
{
	LB_ENTER();
	return LB_GIVEN("positive", x) ? lb_untouched(x, site) : NULL;
}

/* x times a number, of which halves would lose digits. */
static struct lb_tensor *times(const char *name, struct lb_tensor *x, double by)
{
	if (!LB_GIVEN(name, x))
		return NULL;
	bool is_half = x->dtype == LB_F16 || x->dtype == LB_BF16;
	struct lb_tensor *y = lb_multiply(is_half ? lb_astype(x, LB_F32) : x, lb_scalar(by));
	return is_half ? lb_astype(y, (enum lb_dtype)x->dtype) : y;
}

lb_tensor *lb_degrees(lb_tensor *x)
{
	LB_ENTER_WHOLE();
	return times("degrees", x, 57.29577951308232087680);
}

lb_tensor *lb_radians(lb_tensor *x)
{
	LB_ENTER_WHOLE();
	return times("radians", x, 0.01745329251994329577);
}

lb_tensor *lb_trunc(lb_tensor *x)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("trunc", x))
		return NULL;
	if (x->dtype == LB_C64) {
		lb_fail("trunc: not defined for complex64");
		return NULL;
	}
	if (!lb_dtype_is_inexact(x->dtype))
		return lb_untouched(x, lb_fail_site_now());
	return lb_where(lb_less(x, lb_scalar(0)), lb_ceil(x), lb_floor(x));
}

/* Whether both are there, in shapes that broadcast. */
static bool are_alike(const char *name, const struct lb_tensor *a, const struct lb_tensor *b)
{
	int rank;
	int64_t shape[LB_MAX_RANK];
	return LB_GIVEN(name, a) && LB_GIVEN(name, b) &&
	       lb_broadcast(name, a->rank, a->shape, b->rank, b->shape, &rank, shape);
}

lb_tensor *lb_logical_xor(lb_tensor *a, lb_tensor *b)
{
	LB_ENTER_WHOLE();
	if (!are_alike("logical_xor", a, b))
		return NULL;
	return lb_not_equal(lb_astype(a, LB_BOOL), lb_astype(b, LB_BOOL));
}

lb_tensor *lb_round_to(lb_tensor *x, int decimals)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("round_to", x))
		return NULL;
	enum { MOST = 300 }; /* a power of ten that a double has */
	enum lb_dtype dtype = (enum lb_dtype)x->dtype;
	if (decimals < -MOST || decimals > MOST) {
		lb_fail("round_to: to %d decimals: takes from %d to %d", decimals, -MOST, MOST);
		return NULL;
	}
	if (decimals == 0)
		return lb_round(x);
	if (!lb_dtype_is_inexact(dtype) && decimals > 0)
		return lb_untouched(x, lb_fail_site_now());
	enum lb_dtype wide = dtype == LB_C64                                          ? LB_C64
			     : dtype == LB_F16 || dtype == LB_BF16 || dtype == LB_F32 ? LB_F32
										      : LB_F64;
	double scale = pow(10, abs(decimals));
	lb_tensor *(*to)(lb_tensor *, lb_tensor *) = decimals > 0 ? lb_multiply : lb_divide;
	lb_tensor *(*back)(lb_tensor *, lb_tensor *) = decimals > 0 ? lb_divide : lb_multiply;
	struct lb_tensor *y = lb_round(to(lb_astype(x, wide), lb_scalar(scale)));
	return lb_astype(back(y, lb_scalar(scale)), dtype);
}

/* The greatest finite number. */
static double greatest(enum lb_dtype dtype)
{
	switch (dtype) {
	case LB_F16: return 65504;
	case LB_BF16: return 0x1.fep127;
	case LB_C64:
	case LB_F32: return (double)__FLT_MAX__;
	default: return __DBL_MAX__;
	}
}

lb_tensor *lb_nan_to_num(lb_tensor *x, double nan, double posinf, double neginf)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("nan_to_num", x))
		return NULL;
	enum lb_dtype dtype = (enum lb_dtype)x->dtype;
	if (!lb_dtype_is_inexact(dtype))
		return lb_untouched(x, lb_fail_site_now());
	double high = isnan(posinf) ? greatest(dtype) : posinf, low = isnan(neginf) ? -greatest(dtype) : neginf;
	struct lb_tensor *y = lb_where(lb_isneginf(x), lb_full(LB_SHAPE(), low, dtype), x);
	y = lb_where(lb_isposinf(x), lb_full(LB_SHAPE(), high, dtype), y);
	return lb_where(lb_isnan(x), lb_full(LB_SHAPE(), nan, dtype), y);
}

bool lb_divmod(lb_tensor *a, lb_tensor *b, lb_tensor **quotient, lb_tensor **rest)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("divmod", quotient) || !LB_GIVEN("divmod", rest))
		return false;
	*quotient = *rest = NULL;
	if (!are_alike("divmod", a, b))
		return false;
	struct lb_tensor *q = lb_floor_divide(a, b), *r = lb_remainder(a, b);
	if (!q || !r)
		return false;
	*quotient = q;
	*rest = r;
	return true;
}
