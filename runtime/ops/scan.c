#include "graph/promote.h"
#include "base/plural.h"
#include "graph/shape.h"
#include "kernels/model.h"
#include "ops/operation.h"

/* params: 0 axis, 1 reverse, 2 inclusive */
lb_tensor *lb_cumsum(lb_tensor *x, int axis, bool reverse, bool inclusive)
{
	LB_ENTER();
	int along;
	if (!LB_GIVEN("cumsum", x) || !lb_axis("cumsum", axis, lb_shape_of(x), 0, &along))
		return NULL;
	x = lb_as(x, x->dtype == LB_BOOL ? LB_I32 : (enum lb_dtype)x->dtype, site);
	if (!x)
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(LB_OP_CUMSUM, (enum lb_dtype)x->dtype, x->rank, x->shape, 1, &x, site);
	if (t) {
		t->params[0] = along;
		t->params[1] = reverse;
		t->params[2] = inclusive;
	}
	return lb_tensor_publish(t);
}

/* params: 0 axis, 1 reverse, 2 inclusive, 3 kind */
static struct lb_tensor *scan_node(const char *name, struct lb_tensor *x, lb_scan_kind kind, int axis, bool reverse,
				   bool inclusive, const void *site)
{
	int along;
	if (!LB_GIVEN(name, x) || !lb_axis(name, axis, lb_shape_of(x), 0, &along))
		return NULL;
	if ((unsigned)kind > LB_SCAN_LOGADDEXP || (x->dtype == LB_C64 && kind > LB_SCAN_PROD)) {
		lb_fail(
		    "%s: of %s, kind %d: it takes LB_SCAN_SUM to LB_SCAN_LOGADDEXP, of complex numbers to LB_SCAN_PROD",
		    name, lb_dtypes[x->dtype].name, (int)kind);
		return NULL;
	}
	if (kind == LB_SCAN_LOGADDEXP && !(x = lb_as(x, lb_inexact((enum lb_dtype)x->dtype), site)))
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(LB_OP_SCAN, (enum lb_dtype)x->dtype, x->rank, x->shape, 1, &x, site);
	if (t) {
		t->params[0] = along;
		t->params[1] = reverse;
		t->params[2] = inclusive;
		t->params[3] = (int64_t)kind;
	}
	return lb_tensor_publish(t);
}

lb_tensor *lb_scan(lb_tensor *x, lb_scan_kind kind, int axis, bool reverse, bool inclusive)
{
	LB_ENTER();
	return scan_node("scan", x, kind, axis, reverse, inclusive, site);
}

#define SCAN(name, kind) \
	lb_tensor *lb_##name(lb_tensor *x, int axis, bool reverse, bool inclusive) \
	{ \
		LB_ENTER(); \
		return scan_node(#name, x, kind, axis, reverse, inclusive, site); \
	}
SCAN(cumprod, LB_SCAN_PROD)
SCAN(cummax, LB_SCAN_MAX)
SCAN(cummin, LB_SCAN_MIN)
SCAN(logcumsumexp, LB_SCAN_LOGADDEXP)

/* params: 0 axis, 1 key */
lb_tensor *lb_categorical(lb_tensor *logits, int axis, lb_random_key key)
{
	LB_ENTER();
	int along, rank;
	if (!LB_GIVEN("categorical", logits) || !lb_axis("categorical", axis, lb_shape_of(logits), 0, &along))
		return NULL;
	char text[LB_SHAPE_TEXT];
	int64_t n = logits->shape[along], shape[LB_MAX_RANK];
	if (logits->dtype == LB_C64) {
		lb_fail("categorical: complex numbers cannot be logits");
		return NULL;
	}
	if (n < 1 || n > UINT32_MAX) {
		lb_fail("categorical: logits %s have %lld element%s along axis %d, from 1 to 2^32 - 1 can be drawn",
			lb_shape_text(logits->rank, logits->shape, text), (long long)n, LB_S(n), along);
		return NULL;
	}
	logits = lb_as(logits, lb_inexact((enum lb_dtype)logits->dtype), site);
	if (!logits)
		return NULL;
	lb_reduced_shape(logits->rank, logits->shape, 1u << along, false, &rank, shape);
	struct lb_tensor *t = lb_tensor_begin(LB_OP_CATEGORICAL, LB_U32, rank, shape, 1, &logits, site);
	if (t) {
		t->params[0] = along;
		t->params[1] = (int64_t)key.value;
	}
	return lb_tensor_publish(t);
}

struct lb_tensor *lb_remake_cumsum(const struct lb_recipe *r)
{
	return lb_cumsum(r->x[0], (int)r->params[0], r->params[1] != 0, r->params[2] != 0);
}

bool lb_compute_cumsum(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0);
	return lb_kernel_cumsum(exec, &x, (int)t->params[0], t->params[1] != 0, t->params[2] != 0, lb_tensor_data(t));
}

struct lb_tensor *lb_remake_scan(const struct lb_recipe *r)
{
	if (r->params[0] < 0 || r->params[0] >= LB_MAX_RANK || r->params[3] < 0 || r->params[3] > LB_SCAN_LOGADDEXP)
		return lb_senseless(r);
	return lb_scan(r->x[0], (lb_scan_kind)r->params[3], (int)r->params[0], r->params[1] != 0, r->params[2] != 0);
}

bool lb_compute_scan(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0);
	return lb_kernel_scan(exec, &x, (int)t->params[3], (int)t->params[0], t->params[1] != 0, t->params[2] != 0,
			      lb_tensor_data(t));
}

struct lb_tensor *lb_remake_categorical(const struct lb_recipe *r)
{
	return lb_categorical(r->x[0], (int)r->params[0], (lb_random_key){ (uint64_t)r->params[1] });
}

bool lb_compute_categorical(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0);
	return lb_kernel_categorical(exec, &x, (int)t->params[0], (uint64_t)t->params[1], lb_tensor_data(t));
}
