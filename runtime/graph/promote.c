#include "graph/promote.h"

#include "graph/literal.h"
#include "probes.h"

lb_dtype lb_promote(lb_dtype a, lb_dtype b)
{
	return lb_dtype_promoted(a, b);
}

bool lb_can_cast(lb_dtype from, lb_dtype to)
{
	return (unsigned)from < LB_DTYPES && (unsigned)to < LB_DTYPES && lb_dtype_promoted(from, to) == to;
}

bool lb_issubdtype(lb_dtype dtype, lb_category category)
{
	if ((unsigned)dtype >= LB_DTYPES)
		return false;
	bool is_signed = lb_dtype_is_signed_int((int)dtype), is_unsigned = dtype >= LB_U8 && dtype <= LB_U64;
	switch (category) {
	case LB_SIGNEDINTEGER: return is_signed;
	case LB_UNSIGNEDINTEGER: return is_unsigned;
	case LB_INTEGER: return is_signed || is_unsigned;
	case LB_FLOATING: return lb_dtype_is_float((int)dtype);
	case LB_COMPLEXFLOATING: return dtype == LB_C64;
	case LB_INEXACT: return lb_dtype_is_inexact((int)dtype);
	case LB_NUMBER: return dtype != LB_BOOL;
	case LB_GENERIC: return true;
	}
	return false;
}

enum lb_dtype lb_inexact(enum lb_dtype dtype)
{
	return lb_dtype_is_inexact(dtype) ? dtype : LB_F32;
}

/* What a literal becomes next to a dtype; params: 0 double bits, 1 int64, 2 is an int. */
static enum lb_dtype with_weak(enum lb_dtype dtype, const struct lb_tensor *weak)
{
	if (weak->params[2])
		return dtype == LB_BOOL ? LB_I32 : dtype;
	return lb_dtype_is_inexact(dtype) ? dtype : LB_F32;
}

static bool check_fits(const char *op, const struct lb_tensor *weak, enum lb_dtype dtype)
{
	if (lb_literal_fits(weak, dtype))
		return true;
	return lb_fail("%s: the scalar %lld does not fit %s; cast the tensor with lb_astype()", op,
		       (long long)weak->params[1], lb_dtypes[dtype].name);
}

static bool is_half(const struct lb_tensor *x)
{
	return x->dtype == LB_F16 || x->dtype == LB_BF16;
}

/* For who wants to know: halves that become float32, and what becomes float64. */
static void tell_promotion(const char *op, int n, struct lb_tensor *const *xs, enum lb_dtype dtype, const void *site)
{
	const struct lb_tensor *from = NULL, *other = NULL;
	for (int i = 0; i < n && !from; i++) {
		if (!lb_is_weak(xs[i]) && (enum lb_dtype)xs[i]->dtype != dtype && (is_half(xs[i]) || dtype == LB_F64))
			from = xs[i];
	}
	for (int i = 0; i < n && from && !other; i++) {
		if (!lb_is_weak(xs[i]) && xs[i]->dtype != from->dtype)
			other = xs[i];
	}
	if (other)
		lb_probe_promote(from->id, (uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)site, other->id,
				 (uint64_t)(uintptr_t)op, dtype);
}

bool lb_common_dtype(const char *op, int n, struct lb_tensor *const *xs, enum lb_dtype *ret, const void *site)
{
	enum lb_dtype dtype = LB_BOOL;
	bool any = false, mixed = false;
	for (int i = 0; i < n; i++) {
		if (lb_is_weak(xs[i]))
			continue;
		enum lb_dtype own = (enum lb_dtype)xs[i]->dtype;
		if (any && own != dtype) {
			own = lb_promote(dtype, own);
			mixed = true;
		}
		dtype = own;
		any = true;
	}
	for (int i = 0; i < n; i++) {
		if (!lb_is_weak(xs[i]))
			continue;
		dtype = any ? with_weak(dtype, xs[i]) : lb_promote(dtype, (lb_dtype)xs[i]->dtype);
	}
	for (int i = 0; i < n; i++) {
		if (lb_is_weak(xs[i]) && !check_fits(op, xs[i], dtype))
			return false;
	}
	if (__builtin_expect(mixed, 0))
		tell_promotion(op, n, xs, dtype, site);
	*ret = dtype;
	return true;
}

struct lb_tensor *lb_as_new(struct lb_tensor *x, enum lb_dtype dtype, const void *site)
{
	if (!lb_is_weak(x))
		return lb_node(LB_OP_ASTYPE, dtype, x->rank, x->shape, 1, &x, site);
	struct lb_tensor *t = lb_tensor_begin(LB_OP_SCALAR, dtype, 0, NULL, 0, NULL, site);
	if (t)
		__builtin_memcpy(t->params, x->params, sizeof t->params);
	return lb_tensor_publish(t);
}

bool lb_common_float(const char *op, int n, struct lb_tensor **xs, enum lb_dtype *ret, const void *site)
{
	if (!lb_common_dtype(op, n, xs, ret, site))
		return false;
	if (!lb_dtype_is_float(*ret))
		return lb_fail("%s: not defined for %s; cast with lb_astype() to a floating dtype", op,
			       lb_dtypes[*ret].name);
	for (int i = 0; i < n; i++) {
		xs[i] = lb_as(xs[i], *ret, site);
		if (!xs[i])
			return false;
	}
	return true;
}
