#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "graph/literal.h"
#include "graph/shape.h"
#include "kernels/model.h"
#include "ops/operation.h"

static bool check_dtype(const char *op, enum lb_dtype dtype)
{
	if ((unsigned)dtype >= LB_DTYPES)
		return lb_fail("%s: %d is not a dtype", op, (int)dtype);
	return true;
}

/* A leaf is ready as soon as it has its buffer. */
static struct lb_tensor *leaf_begin(const char *op, const void *data, size_t nbytes, lb_list shape, enum lb_dtype dtype,
				    const void *site)
{
	int64_t size;
	if (!check_dtype(op, dtype) || !lb_check_shape(op, shape.n, shape.v, dtype, &size))
		return NULL;
	int64_t needed = size * lb_dtypes[dtype].bytes;
	char text[LB_SHAPE_TEXT];
	if ((uint64_t)needed != nbytes) {
		lb_fail("%s: shape %s of %s takes %lld byte%s, %zu were given", op,
			lb_shape_text(shape.n, shape.v, text), lb_dtypes[dtype].name, (long long)needed, LB_S(needed),
			nbytes);
		return NULL;
	}
	if (nbytes && !data) {
		lb_fail("%s: the address of the %zu byte%s of shape %s is NULL", op, nbytes, LB_S(nbytes),
			lb_shape_text(shape.n, shape.v, text));
		return NULL;
	}
	return lb_tensor_begin(LB_OP_DATA, dtype, shape.n, shape.v, 0, NULL, site);
}

static struct lb_tensor *leaf_publish(struct lb_tensor *t, struct lb_buffer *buffer)
{
	if (!buffer) {
		lb_tensor_discard(t);
		return NULL;
	}
	t->buffer = (uint64_t)(uintptr_t)buffer;
	__atomic_store_n(&t->state, LB_STATE_READY, __ATOMIC_RELEASE);
	return lb_tensor_publish(t);
}

lb_tensor *lb_from_data(const void *data, size_t nbytes, lb_list shape, lb_dtype dtype)
{
	LB_ENTER();
	struct lb_tensor *t = leaf_begin("from_data", data, nbytes, shape, dtype, site);
	if (!t)
		return NULL;
	struct lb_buffer *buffer = lb_buffer_new((int64_t)nbytes, t->id, false);
	if (buffer && nbytes)
		memcpy((void *)(uintptr_t)buffer->data, data, nbytes);
	return leaf_publish(t, buffer);
}

lb_tensor *lb_from_memory(void *data, size_t nbytes, lb_list shape, lb_dtype dtype,
			  void (*release)(void *data, void *context), void *context)
{
	LB_ENTER();
	int64_t part = dtype == LB_C64 ? 4 : lb_dtype_bytes(dtype);
	if (part && (uintptr_t)data % (uintptr_t)part) {
		lb_fail("from_memory: address %p is not aligned for %s", data, lb_dtypes[dtype].name);
		return NULL;
	}
	struct lb_tensor *t = leaf_begin("from_memory", data, nbytes, shape, dtype, site);
	if (!t)
		return NULL;
	return leaf_publish(t, lb_buffer_foreign(data, (int64_t)nbytes, t->id, release, context));
}

static struct lb_tensor *full(const char *op, lb_list shape, double value, enum lb_dtype dtype, const void *site)
{
	int64_t size;
	if (!check_dtype(op, dtype) || !lb_check_shape(op, shape.n, shape.v, dtype, &size))
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(LB_OP_FULL, dtype, shape.n, shape.v, 0, NULL, site);
	if (t)
		lb_param_set_double(t, 0, value);
	return lb_tensor_publish(t);
}

lb_tensor *lb_zeros(lb_list shape, lb_dtype dtype)
{
	LB_ENTER();
	return full("zeros", shape, 0, dtype, site);
}

lb_tensor *lb_ones(lb_list shape, lb_dtype dtype)
{
	LB_ENTER();
	return full("ones", shape, 1, dtype, site);
}

lb_tensor *lb_full(lb_list shape, double value, lb_dtype dtype)
{
	LB_ENTER();
	return full("full", shape, value, dtype, site);
}

lb_tensor *lb_zeros_like(lb_tensor *x)
{
	LB_ENTER();
	return LB_GIVEN("zeros_like", x) ? full("zeros_like", lb_shape_of(x), 0, (enum lb_dtype)x->dtype, site) : NULL;
}

lb_tensor *lb_ones_like(lb_tensor *x)
{
	LB_ENTER();
	return LB_GIVEN("ones_like", x) ? full("ones_like", lb_shape_of(x), 1, (enum lb_dtype)x->dtype, site) : NULL;
}

lb_tensor *lb_scalar(double value)
{
	LB_ENTER();
	return lb_literal(value, site);
}

lb_tensor *lb_scalar_int(int64_t value)
{
	LB_ENTER();
	return lb_literal_int(value, site);
}

/* Whether an integer dtype has the whole number. */
static bool holds(enum lb_dtype dtype, double value)
{
	bool is_signed = lb_dtype_is_signed_int(dtype);
	double end = ldexp(1, (int)lb_dtypes[dtype].bytes * 8 - is_signed);
	return value >= (is_signed ? -end : 0) && value < end;
}

lb_tensor *lb_arange(double start, double stop, double step, lb_dtype dtype)
{
	LB_ENTER_WHOLE();
	const void *site = lb_fail_site_now();
	if (!check_dtype("arange", dtype))
		return NULL;
	if (dtype == LB_BOOL) {
		lb_fail("arange: counts in numbers, not in bool");
		return NULL;
	}
	if (dtype == LB_C64)
		return lb_astype(lb_arange(start, stop, step, LB_F32), LB_C64);
	if (!isfinite(start) || !isfinite(stop) || !isfinite(step) || step == 0) {
		lb_fail("arange: start %g, stop %g and step %g must be finite, and step not 0", start, stop, step);
		return NULL;
	}
	if (dtype < LB_F16 && (start != nearbyint(start) || step != nearbyint(step))) {
		lb_fail("arange: start %g and step %g must be whole numbers for %s", start, step,
			lb_dtypes[dtype].name);
		return NULL;
	}
	double count = ceil((stop - start) / step);
	if (!(count < 0x1p62)) {
		lb_fail("arange: %g to %g by %g is too many elements", start, stop, step);
		return NULL;
	}
	int64_t n = count > 0 ? (int64_t)count : 0;
	double last = start + (count - 1) * step;
	if (n && dtype < LB_F16 && !(holds(dtype, start) && holds(dtype, last))) {
		lb_fail("arange: %.17g does not fit %s", holds(dtype, start) ? last : start, lb_dtypes[dtype].name);
		return NULL;
	}
	struct lb_tensor *t = lb_tensor_begin(LB_OP_ARANGE, dtype, 1, &n, 0, NULL, site);
	if (t) {
		lb_param_set_double(t, 0, start);
		lb_param_set_double(t, 1, step);
	}
	return lb_tensor_publish(t);
}

lb_tensor *lb_linspace(double start, double stop, int64_t n, bool endpoint, lb_dtype dtype)
{
	LB_ENTER_WHOLE();
	int64_t size;
	if (!check_dtype("linspace", dtype) || !lb_check_shape("linspace", 1, &n, dtype, &size))
		return NULL;
	if (!isfinite(start) || !isfinite(stop) || !isfinite(stop - start)) {
		lb_fail("linspace: %g to %g: both, and what is between, must be finite", start, stop);
		return NULL;
	}
	int64_t steps = n - endpoint;
	double step = steps > 0 ? (stop - start) / (double)steps : 0;
	struct lb_tensor *i = lb_arange(0, (double)n, 1, LB_F64);
	struct lb_tensor *x = lb_add(lb_multiply(i, lb_scalar(step)), lb_scalar(start));
	if (endpoint && n > 1) /* exactly */
		x = lb_where(lb_equal(i, lb_scalar((double)steps)), lb_scalar(stop), x);
	return lb_astype(x, dtype);
}

/* n points of t from -1 to 1, in double; *ret is NULL, without an error, where the window is not a matter of t. */
static struct lb_tensor *window_points(const char *op, int64_t n, struct lb_tensor **whole)
{
	int64_t size;
	*whole = NULL;
	if (n < 2) {
		*whole = lb_ones(LB_SHAPE(n == 1), LB_F32);
		return NULL;
	}
	if (!lb_check_shape(op, 1, &n, LB_F64, &size))
		return NULL;
	return lb_divide(lb_arange((double)(1 - n), (double)n, 2, LB_F64), lb_scalar((double)(n - 1)));
}

lb_tensor *lb_bartlett(int64_t n)
{
	LB_ENTER_WHOLE();
	struct lb_tensor *whole, *t = window_points("bartlett", n, &whole);
	return t ? lb_astype(lb_subtract(lb_scalar(1), lb_abs(t)), LB_F32) : whole;
}

/* a + b cos(pi t) + c cos(2 pi t) */
static struct lb_tensor *of_cosines(const char *op, int64_t n, double a, double b, double c)
{
	struct lb_tensor *whole, *t = window_points(op, n, &whole);
	if (!t)
		return whole;
	struct lb_tensor *angle = lb_multiply(t, lb_scalar(M_PI));
	struct lb_tensor *y = lb_add(lb_multiply(lb_cos(angle), lb_scalar(b)), lb_scalar(a));
	if (c != 0)
		y = lb_add(y, lb_multiply(lb_cos(lb_multiply(angle, lb_scalar(2))), lb_scalar(c)));
	return lb_astype(y, LB_F32);
}

lb_tensor *lb_blackman(int64_t n)
{
	LB_ENTER_WHOLE();
	return of_cosines("blackman", n, 0.42, 0.5, 0.08);
}

lb_tensor *lb_hamming(int64_t n)
{
	LB_ENTER_WHOLE();
	return of_cosines("hamming", n, 0.54, 0.46, 0);
}

lb_tensor *lb_hanning(int64_t n)
{
	LB_ENTER_WHOLE();
	return of_cosines("hanning", n, 0.5, 0.5, 0);
}

lb_tensor *lb_eye(int64_t rows, int64_t cols, int64_t k, lb_dtype dtype)
{
	LB_ENTER();
	if (!check_dtype("eye", dtype))
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(LB_OP_EYE, dtype, 2, (int64_t[]){ rows, cols }, 0, NULL, site);
	if (t)
		t->params[0] = k;
	return lb_tensor_publish(t);
}

lb_random_key lb_key(uint64_t seed)
{
	return (lb_random_key){ lb_philox_split(0, seed) };
}

lb_random_key lb_key_split(lb_random_key key, uint64_t index)
{
	return (lb_random_key){ lb_philox_split(key.value, index) };
}

static struct lb_tensor *random_begin(int op, lb_list shape, enum lb_dtype dtype, lb_random_key key, const void *site)
{
	if (!check_dtype(lb_ops[op].name, dtype))
		return NULL;
	if (!lb_dtype_is_float(dtype)) {
		lb_fail("%s: gives floating dtypes, not %s", lb_ops[op].name, lb_dtypes[dtype].name);
		return NULL;
	}
	struct lb_tensor *t = lb_tensor_begin(op, dtype, shape.n, shape.v, 0, NULL, site);
	if (t)
		t->params[0] = (int64_t)key.value;
	return t;
}

lb_tensor *lb_random_uniform(lb_list shape, double low, double high, lb_dtype dtype, lb_random_key key)
{
	LB_ENTER();
	if (!(low < high) || !isfinite(high - low)) {
		lb_fail("random_uniform: [%g, %g) is not a range", low, high);
		return NULL;
	}
	if (dtype != LB_F64 && !isfinite((float)(high - low))) {
		lb_fail("random_uniform: [%g, %g) is wider than a float32 can tell", low, high);
		return NULL;
	}
	struct lb_tensor *t = random_begin(LB_OP_UNIFORM, shape, dtype, key, site);
	if (t) {
		lb_param_set_double(t, 1, low);
		lb_param_set_double(t, 2, high);
	}
	return lb_tensor_publish(t);
}

lb_tensor *lb_random_normal(lb_list shape, lb_dtype dtype, lb_random_key key)
{
	LB_ENTER_WHOLE();
	int64_t size;
	if (dtype != LB_C64)
		return lb_tensor_publish(random_begin(LB_OP_NORMAL, shape, dtype, key, lb_fail_site_now()));
	if (!lb_check_shape("random_normal", shape.n, shape.v, dtype, &size))
		return NULL;
	/* a line of parts, real and imaginary in turn */
	struct lb_tensor *parts = lb_random_normal(LB_SHAPE(2 * size), LB_F32, key);
	return lb_reshape(lb_bitcast(lb_multiply(parts, lb_scalar(M_SQRT1_2)), LB_C64), shape);
}

lb_tensor *lb_random_bits(lb_tensor *keys, lb_list shape, lb_dtype dtype)
{
	LB_ENTER();
	int64_t all[LB_MAX_RANK];
	char text[LB_SHAPE_TEXT];
	if (!LB_GIVEN("random_bits", keys))
		return NULL;
	int own = keys->rank - 1;
	if (keys->dtype != LB_U32 || own < 0 || keys->shape[own] != 2) {
		lb_fail("random_bits: keys are %s %s; they must be uint32, with a last axis of 2",
			lb_dtypes[keys->dtype].name, lb_shape_text(keys->rank, keys->shape, text));
		return NULL;
	}
	if (dtype != LB_U8 && dtype != LB_U16 && dtype != LB_U32) {
		lb_fail("random_bits: gives uint8, uint16 or uint32");
		return NULL;
	}
	if (shape.n > LB_MAX_RANK - own) {
		lb_fail("random_bits: %d axes behind the %d of the keys are too many", shape.n, own);
		return NULL;
	}
	memcpy(all, keys->shape, (size_t)own * sizeof *all);
	if (shape.n > 0)
		memcpy(all + own, shape.v, (size_t)shape.n * sizeof *all);
	int64_t size;
	if (!lb_check_shape("random_bits", own + shape.n, all, dtype, &size))
		return NULL;
	return lb_tensor_publish(lb_tensor_begin(LB_OP_RANDOM_BITS, dtype, own + shape.n, all, 1, &keys, site));
}

/* ---- made anew, and computed ---- */

struct lb_tensor *lb_remake_random_bits(const struct lb_recipe *r)
{
	int own = r->x[0]->rank - 1;
	return own < 0 || own > r->shape.n
		   ? lb_senseless(r)
		   : lb_random_bits(r->x[0], (lb_list){ r->shape.n - own, r->shape.v + own }, r->dtype);
}

bool lb_compute_random_bits(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view keys = lb_view_of_input(t, 0);
	int64_t bytes = lb_dtypes[t->dtype].bytes;
	for (int i = keys.rank - 1; i < t->rank; i++)
		bytes *= t->shape[i];
	return lb_kernel_random_bits(exec, &keys, bytes, lb_tensor_data(t));
}

struct lb_tensor *lb_remake_scalar(const struct lb_recipe *r)
{
	double element[2] = { 0 };
	if (r->params[2])
		lb_store_int(element, r->dtype, r->params[1]);
	else
		lb_store_double(element, r->dtype, lb_recipe_double(r, 0));
	return lb_from_data(element, lb_dtypes[r->dtype].bytes, LB_SHAPE(), r->dtype);
}

struct lb_tensor *lb_remake_full(const struct lb_recipe *r)
{
	return full("full", r->shape, lb_recipe_double(r, 0), r->dtype, r->site);
}

/* Ops whose elements depend on their number alone: a replay may begin at a later one. */
static struct lb_tensor *numbered(const struct lb_recipe *r)
{
	bool fits = r->shape.n == 1 && r->params[3] >= 0 && r->params[3] <= INT64_MAX / 4 &&
		    (r->op == LB_OP_ARANGE || lb_dtype_is_float(r->dtype));
	return fits ? lb_remake_as_is(r) : lb_senseless(r);
}

/* Its length is in the shape: start and step may not give stop back exactly. */
struct lb_tensor *lb_remake_arange(const struct lb_recipe *r)
{
	return numbered(r);
}

struct lb_tensor *lb_remake_eye(const struct lb_recipe *r)
{
	return r->shape.n != 2 ? lb_senseless(r) : lb_eye(r->shape.v[0], r->shape.v[1], r->params[0], r->dtype);
}

struct lb_tensor *lb_remake_uniform(const struct lb_recipe *r)
{
	lb_random_key key = { (uint64_t)r->params[0] };
	return r->params[3]
		   ? numbered(r)
		   : lb_random_uniform(r->shape, lb_recipe_double(r, 1), lb_recipe_double(r, 2), r->dtype, key);
}

struct lb_tensor *lb_remake_normal(const struct lb_recipe *r)
{
	lb_random_key key = { (uint64_t)r->params[0] };
	return r->params[3] ? numbered(r) : lb_random_normal(r->shape, r->dtype, key);
}

bool lb_compute_fill(struct lb_exec *exec, struct lb_tensor *t)
{
	enum lb_dtype dtype = (enum lb_dtype)t->dtype;
	double value[2] = { 0 };
	if (t->op == LB_OP_SCALAR && t->params[2])
		lb_store_int(value, dtype, t->params[1]);
	else
		lb_store_double(value, dtype, lb_param_double(t, 0));
	return lb_kernel_fill(exec, lb_tensor_data(t), dtype, t->size, value);
}

bool lb_compute_arange(struct lb_exec *exec, struct lb_tensor *t)
{
	return lb_kernel_arange(exec, lb_tensor_data(t), (enum lb_dtype)t->dtype, t->params[3], t->size,
				lb_param_double(t, 0), lb_param_double(t, 1));
}

bool lb_compute_eye(struct lb_exec *exec, struct lb_tensor *t)
{
	return lb_kernel_eye(exec, lb_tensor_data(t), (enum lb_dtype)t->dtype, t->shape[0], t->shape[1], t->params[0]);
}

bool lb_compute_uniform(struct lb_exec *exec, struct lb_tensor *t)
{
	return lb_kernel_uniform(exec, lb_tensor_data(t), (enum lb_dtype)t->dtype, t->params[3], t->size,
				 (uint64_t)t->params[0], lb_param_double(t, 1), lb_param_double(t, 2));
}

bool lb_compute_normal(struct lb_exec *exec, struct lb_tensor *t)
{
	return lb_kernel_normal(exec, lb_tensor_data(t), (enum lb_dtype)t->dtype, t->params[3], t->size,
				(uint64_t)t->params[0]);
}
