/* Distributions that are made of uniform and normal numbers. What they are a function of is the key and the place of the
 * element, so that a replay gives the same. Computed in float, or double where that is asked for, and rounded once. */
#include <math.h>

#include "graph/promote.h"
#include "graph/shape.h"

static bool check_float(const char *name, enum lb_dtype dtype)
{
	return lb_dtype_is_float((int)dtype) ||
	       ((unsigned)dtype < LB_DTYPES ? lb_fail("%s: gives floating dtypes, not %s", name, lb_dtypes[dtype].name)
					    : lb_fail("%s: %d is not a dtype", name, (int)dtype));
}

static enum lb_dtype wide(enum lb_dtype dtype)
{
	return dtype == LB_F64 ? LB_F64 : LB_F32;
}

lb_tensor *lb_random_randint(lb_list shape, int64_t low, int64_t high, lb_dtype dtype, lb_random_key key)
{
	LB_ENTER_WHOLE();
	int64_t size, width;
	if ((unsigned)dtype >= LB_DTYPES || dtype < LB_U8 || dtype > LB_I64) {
		lb_fail("random_randint: gives integers");
		return NULL;
	}
	if (!lb_check_shape("random_randint", shape.n, shape.v, dtype, &size))
		return NULL;
	if (low >= high || __builtin_sub_overflow(high, low, &width) || width > (int64_t)1 << 53) {
		lb_fail("random_randint: [%lld, %lld) is not a range of at most 2^53 numbers", (long long)low,
			(long long)high);
		return NULL;
	}
	int bits = (int)lb_dtypes[dtype].bytes * 8;
	bool is_signed = lb_dtype_is_signed_int(dtype);
	int64_t least = is_signed ? INT64_MIN >> (64 - bits) : 0;
	int64_t most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - is_signed)) - 1;
	if (low < least || high - 1 > most) {
		lb_fail("random_randint: [%lld, %lld) does not fit %s", (long long)low, (long long)high,
			lb_dtypes[dtype].name);
		return NULL;
	}
	struct lb_tensor *u = lb_random_uniform(shape, 0, (double)width, LB_F64, key);
	struct lb_tensor *x = lb_astype(lb_floor(u), LB_I64);
	return lb_astype(lb_add(x, lb_scalar_int(low)), dtype);
}

lb_tensor *lb_random_bernoulli(lb_tensor *p, lb_list shape, lb_random_key key)
{
	LB_ENTER_WHOLE();
	int64_t size, own[LB_MAX_RANK];
	int rank;
	if (!LB_GIVEN("random_bernoulli", p) || !lb_check_shape("random_bernoulli", shape.n, shape.v, LB_BOOL, &size) ||
	    !lb_broadcast("random_bernoulli", p->rank, p->shape, shape.n, shape.v, &rank, own))
		return NULL;
	if (!lb_same_shape(rank, own, shape.n, shape.v)) {
		char from[LB_SHAPE_TEXT], to[LB_SHAPE_TEXT];
		lb_fail("random_bernoulli: p %s does not broadcast to %s", lb_shape_text(p->rank, p->shape, from),
			lb_shape_text(shape.n, shape.v, to));
		return NULL;
	}
	return lb_less(lb_random_uniform(shape, 0, 1, LB_F32, key), lb_astype(p, LB_F32));
}

lb_tensor *lb_random_gumbel(lb_list shape, lb_dtype dtype, lb_random_key key)
{
	LB_ENTER_WHOLE();
	int64_t size;
	if (!check_float("random_gumbel", dtype) || !lb_check_shape("random_gumbel", shape.n, shape.v, dtype, &size))
		return NULL;
	struct lb_tensor *u = lb_random_uniform(shape, (double)__FLT_MIN__, 1, wide(dtype), key);
	return lb_astype(lb_negative(lb_log(lb_negative(lb_log(u)))), dtype);
}

lb_tensor *lb_random_laplace(lb_list shape, double loc, double scale, lb_dtype dtype, lb_random_key key)
{
	LB_ENTER_WHOLE();
	int64_t size;
	if (!check_float("random_laplace", dtype) || !lb_check_shape("random_laplace", shape.n, shape.v, dtype, &size))
		return NULL;
	double low = dtype == LB_F64 ? nextafter(-1, 0) : (double)nextafterf(-1, 0);
	struct lb_tensor *u = lb_random_uniform(shape, low, 1, wide(dtype), key);
	struct lb_tensor *size_of = lb_negative(lb_log1p(lb_negative(lb_abs(u))));
	struct lb_tensor *x = lb_multiply(lb_multiply(lb_sign(u), size_of), lb_scalar(scale));
	return lb_astype(lb_add(x, lb_scalar(loc)), dtype);
}

/* erf of a bound over sqrt(2), in dtype. */
static struct lb_tensor *edge(struct lb_tensor *bound, enum lb_dtype dtype)
{
	return lb_erf(lb_multiply(lb_astype(bound, dtype), lb_scalar(0.70710678118654752440)));
}

lb_tensor *lb_random_truncated_normal(lb_tensor *lower, lb_tensor *upper, lb_list shape, lb_dtype dtype,
				      lb_random_key key)
{
	LB_ENTER_WHOLE();
	static const char name[] = "random_truncated_normal";
	int64_t size, own[LB_MAX_RANK];
	int rank;
	if (!LB_GIVEN(name, lower) || !LB_GIVEN(name, upper) || !check_float(name, dtype) ||
	    !lb_check_shape(name, shape.n, shape.v, dtype, &size))
		return NULL;
	if (lower->dtype == LB_C64 || upper->dtype == LB_C64) {
		lb_fail("%s: bounds are no complex numbers", name);
		return NULL;
	}
	for (int i = 0; i < 2; i++) {
		const struct lb_tensor *bound = i ? upper : lower;
		if (!lb_broadcast(name, bound->rank, bound->shape, shape.n, shape.v, &rank, own))
			return NULL;
		if (!lb_same_shape(rank, own, shape.n, shape.v)) {
			char from[LB_SHAPE_TEXT], to[LB_SHAPE_TEXT];
			lb_fail("%s: a bound %s does not broadcast to %s", name,
				lb_shape_text(bound->rank, bound->shape, from), lb_shape_text(shape.n, shape.v, to));
			return NULL;
		}
	}
	enum lb_dtype in = wide(dtype);
	struct lb_tensor *a = edge(lower, in), *b = edge(upper, in), *u = lb_random_uniform(shape, 0, 1, in, key);
	u = lb_add(a, lb_multiply(lb_subtract(b, a), u));
	struct lb_tensor *x = lb_multiply(lb_erfinv(u), lb_scalar(1.41421356237309504880));
	/* rounding must not lead beyond a bound */
	return lb_astype(lb_clip(x, lb_astype(lower, in), lb_astype(upper, in)), dtype);
}

/* The symmetric matrix whose square is cov. */
static struct lb_tensor *symmetric_root(struct lb_tensor *cov)
{
	struct lb_tensor *values, *vectors;
	if (!cov || !lb_eigh(cov, false, &values, &vectors))
		return NULL;
	struct lb_tensor *roots = lb_sqrt(lb_maximum(values, lb_scalar(0)));
	struct lb_tensor *scaled = lb_multiply(vectors, lb_expand_dims(roots, LB_AXES(-2)));
	return lb_matmul(scaled, lb_swapaxes(vectors, -1, -2));
}

lb_tensor *lb_random_multivariate_normal(lb_tensor *mean, lb_tensor *cov, lb_list shape, lb_dtype dtype,
					 lb_random_key key)
{
	LB_ENTER_WHOLE();
	static const char name[] = "random_multivariate_normal";
	char of_mean[LB_SHAPE_TEXT], of_cov[LB_SHAPE_TEXT];
	int64_t all[LB_MAX_RANK + 1], size;
	int rank;
	if (!LB_GIVEN(name, mean) || !LB_GIVEN(name, cov) || !check_float(name, dtype) ||
	    !lb_check_shape(name, shape.n, shape.v, dtype, &size))
		return NULL;
	int n = mean->rank - 1, c = cov->rank - 1;
	if (n < 0 || c < 1 || cov->shape[c] != cov->shape[c - 1] || cov->shape[c] != mean->shape[n] ||
	    mean->dtype == LB_C64 || cov->dtype == LB_C64) {
		lb_fail("%s: mean %s %s and cov %s %s must be real, (…, n) and (…, n, n)", name,
			lb_dtypes[mean->dtype].name, lb_shape_text(mean->rank, mean->shape, of_mean),
			lb_dtypes[cov->dtype].name, lb_shape_text(cov->rank, cov->shape, of_cov));
		return NULL;
	}
	if (!lb_broadcast(name, n, mean->shape, c - 1, cov->shape, &rank, all) ||
	    !lb_broadcast(name, rank, all, shape.n, shape.v, &rank, all))
		return NULL;
	all[rank] = mean->shape[n];
	if (!lb_check_shape(name, rank + 1, all, dtype, &size))
		return NULL;
	enum lb_dtype in = wide(dtype);
	struct lb_tensor *z = lb_random_normal((lb_list){ rank + 1, all }, in, key);
	struct lb_tensor *rows = z ? lb_expand_dims(z, LB_AXES(-2)) : NULL;
	struct lb_tensor *off = lb_matmul(rows, symmetric_root(lb_astype(cov, in)));
	return lb_astype(lb_add(lb_astype(mean, in), off ? lb_squeeze(off, LB_AXES(-2)) : NULL), dtype);
}

lb_tensor *lb_random_permutation(int64_t n, lb_random_key key)
{
	LB_ENTER_WHOLE();
	if (n < 0 || n > UINT32_MAX) {
		lb_fail("random_permutation: of %lld numbers; from 0 to 2^32 - 1 can be told by u32", (long long)n);
		return NULL;
	}
	return lb_argsort(lb_random_uniform(LB_SHAPE(n), 0, 1, LB_F64, key), 0);
}
