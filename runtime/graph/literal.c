#include "graph/literal.h"

#include <math.h>

static struct lb_tensor *literal(double value, int64_t exact, bool is_int, enum lb_dtype dtype, const void *site)
{
	struct lb_tensor *t = lb_tensor_begin(LB_OP_SCALAR, dtype, 0, NULL, 0, NULL, site);
	if (!t)
		return NULL;
	lb_param_set_double(t, 0, value);
	t->params[1] = exact;
	t->params[2] = is_int;
	t->flags |= LB_FLAG_WEAK;
	return lb_tensor_publish(t);
}

struct lb_tensor *lb_literal(double value, const void *site)
{
	return literal(value, 0, false, LB_F32, site);
}

struct lb_tensor *lb_literal_int(int64_t value, const void *site)
{
	return literal((double)value, value, true, value == (int32_t)value ? LB_I32 : LB_I64, site);
}

/* The least and the largest value of an integer dtype that an int64 has. */
static void range_of(enum lb_dtype dtype, int64_t *low, int64_t *high)
{
	int bits = (int)lb_dtypes[dtype].bytes * 8;
	bool is_signed = lb_dtype_is_signed_int(dtype);
	*low = is_signed ? INT64_MIN >> (64 - bits) : 0;
	*high = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - is_signed)) - 1;
}

bool lb_literal_fits(const struct lb_tensor *weak, enum lb_dtype dtype)
{
	int64_t low, high;
	if (!weak->params[2] || dtype >= LB_F16 || dtype == LB_BOOL)
		return true;
	range_of(dtype, &low, &high);
	return weak->params[1] >= low && weak->params[1] <= high;
}

struct lb_tensor *lb_literal_bound(struct lb_tensor *bound, const struct lb_tensor *x, bool high, const void *site)
{
	enum lb_dtype dtype = (enum lb_dtype)x->dtype;
	int64_t least, most;
	if (!lb_is_weak(bound) || lb_is_weak(x) || lb_literal_fits(bound, dtype))
		return bound;
	range_of(dtype, &least, &most);
	if (high ? bound->params[1] < least : bound->params[1] > most)
		return bound; /* x itself would not fit then */
	return lb_literal_int(high ? most : least, site);
}

static struct lb_tensor *of_ints(int op, int64_t x, int64_t y, const void *site)
{
	int64_t z = 0;
	bool wraps = false;
	switch (op) {
	case LB_OP_ADD: wraps = __builtin_add_overflow(x, y, &z); break;
	case LB_OP_SUBTRACT: wraps = __builtin_sub_overflow(x, y, &z); break;
	case LB_OP_MULTIPLY: wraps = __builtin_mul_overflow(x, y, &z); break;
	case LB_OP_MAXIMUM: z = x > y ? x : y; break;
	case LB_OP_MINIMUM: z = x < y ? x : y; break;
	default: wraps = true;
	}
	return wraps ? NULL : lb_literal_int(z, site);
}

struct lb_tensor *lb_literal_of(int op, const struct lb_tensor *a, const struct lb_tensor *b, const void *site)
{
	if (a->params[2] && b->params[2] && op != LB_OP_DIVIDE)
		return of_ints(op, a->params[1], b->params[1], site);
	double x = lb_param_double(a, 0), y = lb_param_double(b, 0);
	switch (op) {
	case LB_OP_ADD: return lb_literal(x + y, site);
	case LB_OP_SUBTRACT: return lb_literal(x - y, site);
	case LB_OP_MULTIPLY: return lb_literal(x * y, site);
	case LB_OP_DIVIDE: return lb_literal(x / y, site);
	case LB_OP_POWER: return lb_literal(pow(x, y), site);
	case LB_OP_MAXIMUM: return lb_literal(isnan(x) || x > y ? x : y, site);
	case LB_OP_MINIMUM: return lb_literal(isnan(x) || x < y ? x : y, site);
	default: return NULL;
	}
}
