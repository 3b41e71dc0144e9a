#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/operation.h"

static struct lb_tensor *reduce_node(int op, struct lb_tensor *x, lb_list axes, bool keepdims, int64_t ddof,
				     const void *site)
{
	const char *name = lb_ops[op].name;
	if (!LB_GIVEN(name, x))
		return NULL;
	uint32_t mask;
	if (!lb_axis_mask(name, axes, lb_shape_of(x), 0, &mask))
		return NULL;

	enum lb_dtype dtype = (enum lb_dtype)x->dtype;
	if (dtype == LB_C64 && (op == LB_OP_LOGSUMEXP || op == LB_OP_VAR)) {
		lb_fail("%s: not defined for complex64", name);
		return NULL;
	}
	bool non_empty = op == LB_OP_MAX || op == LB_OP_MIN;
	for (int i = 0; i < x->rank && non_empty; i++) {
		if (mask & 1u << i && x->shape[i] == 0) {
			char text[LB_SHAPE_TEXT];
			lb_fail("%s: axis %d of %s is empty, so it has no %s", name, i,
				lb_shape_text(x->rank, x->shape, text), name);
			return NULL;
		}
	}
	switch (op) {
	case LB_OP_SUM:
	case LB_OP_PROD:
		if (dtype == LB_BOOL || (lb_dtype_is_signed_int(dtype) && dtype < LB_I32))
			dtype = LB_I32;
		else if (dtype == LB_U8 || dtype == LB_U16)
			dtype = LB_U32;
		break;
	case LB_OP_MEAN:
	case LB_OP_VAR:
	case LB_OP_LOGSUMEXP: dtype = lb_inexact(dtype); break;
	case LB_OP_ALL:
	case LB_OP_ANY: dtype = LB_BOOL; break;
	}
	int rank;
	int64_t shape[LB_MAX_RANK];
	lb_reduced_shape(x->rank, x->shape, mask, keepdims, &rank, shape);
	struct lb_tensor *t = lb_tensor_begin(op, dtype, rank, shape, 1, &x, site);
	if (t) {
		t->params[0] = mask;
		t->params[1] = keepdims;
		t->params[2] = ddof;
	}
	return lb_tensor_publish(t);
}

#define REDUCE(function, op) \
	lb_tensor *function(lb_tensor *x, lb_list axes, bool keepdims) \
	{ \
		LB_ENTER(); \
		return reduce_node(LB_OP_##op, x, axes, keepdims, 0, site); \
	}

REDUCE(lb_sum, SUM)
REDUCE(lb_mean, MEAN)
REDUCE(lb_max, MAX)
REDUCE(lb_min, MIN)
REDUCE(lb_prod, PROD)
REDUCE(lb_all, ALL)
REDUCE(lb_any, ANY)
REDUCE(lb_logsumexp, LOGSUMEXP)

lb_tensor *lb_var(lb_tensor *x, lb_list axes, bool keepdims, int ddof)
{
	LB_ENTER_WHOLE();
	const void *site = lb_fail_site_now();
	if (!x || x->dtype != LB_C64)
		return reduce_node(LB_OP_VAR, x, axes, keepdims, ddof, site);
	struct lb_tensor *re = reduce_node(LB_OP_VAR, lb_real(x), axes, keepdims, ddof, site);
	return re ? lb_add(re, reduce_node(LB_OP_VAR, lb_imag(x), axes, keepdims, ddof, site)) : NULL;
}

static struct lb_tensor *argreduce(int op, struct lb_tensor *x, lb_list axes, bool keepdims, const void *site)
{
	const char *name = lb_ops[op].name;
	if (!LB_GIVEN(name, x))
		return NULL;
	if (axes.n >= 0 && axes.n != 1) {
		char text[LB_SHAPE_TEXT];
		lb_fail("%s: works along one axis of %s or all, not %d", name, lb_shape_text(x->rank, x->shape, text),
			axes.n);
		return NULL;
	}
	uint32_t mask;
	if (!lb_axis_mask(name, axes, lb_shape_of(x), 0, &mask))
		return NULL;
	int64_t along = 1;
	for (int i = 0; i < x->rank; i++)
		along *= mask & 1u << i ? x->shape[i] : 1;
	if (along == 0 || along > UINT32_MAX) {
		char text[LB_SHAPE_TEXT];
		lb_fail(along ? "%s: %s has more elements along the axis than a uint32 index can tell"
			      : "%s: %s is empty along the axis",
			name, lb_shape_text(x->rank, x->shape, text));
		return NULL;
	}
	int rank;
	int64_t shape[LB_MAX_RANK];
	lb_reduced_shape(x->rank, x->shape, mask, keepdims, &rank, shape);
	struct lb_tensor *t = lb_tensor_begin(op, LB_U32, rank, shape, 1, &x, site);
	if (t) {
		t->params[0] = axes.n < 0 ? -1 : __builtin_ctz(mask);
		t->params[1] = keepdims;
	}
	return lb_tensor_publish(t);
}

lb_tensor *lb_argmax(lb_tensor *x, lb_list axis, bool keepdims)
{
	LB_ENTER();
	return argreduce(LB_OP_ARGMAX, x, axis, keepdims, site);
}

lb_tensor *lb_argmin(lb_tensor *x, lb_list axis, bool keepdims)
{
	LB_ENTER();
	return argreduce(LB_OP_ARGMIN, x, axis, keepdims, site);
}

lb_tensor *lb_softmax(lb_tensor *x, lb_list axes)
{
	LB_ENTER();
	if (!LB_GIVEN("softmax", x))
		return NULL;
	uint32_t mask;
	if (!lb_axis_mask("softmax", axes, lb_shape_of(x), 0, &mask))
		return NULL;
	if (x->dtype == LB_C64) {
		lb_fail("softmax: not defined for complex64");
		return NULL;
	}
	x = lb_as(x, lb_inexact((enum lb_dtype)x->dtype), site);
	if (!x)
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(LB_OP_SOFTMAX, (enum lb_dtype)x->dtype, x->rank, x->shape, 1, &x, site);
	if (t)
		t->params[0] = mask;
	return lb_tensor_publish(t);
}

/* ---- made anew, and computed ---- */

static lb_list axes_of(uint32_t mask, int64_t axes[32])
{
	int n = 0;
	for (int i = 0; i < 32; i++) {
		if (mask & 1u << i)
			axes[n++] = i;
	}
	return (lb_list){ n, axes };
}

struct lb_tensor *lb_remake_reduce(const struct lb_recipe *r)
{
	int64_t axes[32];
	return reduce_node(r->op, r->x[0], axes_of((uint32_t)r->params[0], axes), r->params[1] != 0,
			   r->op == LB_OP_VAR ? (int)r->params[2] : 0, r->site);
}

struct lb_tensor *lb_remake_argreduce(const struct lb_recipe *r)
{
	return argreduce(r->op, r->x[0], r->params[0] < 0 ? LB_ALL_AXES : LB_AXES(r->params[0]), r->params[1] != 0,
			 r->site);
}

struct lb_tensor *lb_remake_softmax(const struct lb_recipe *r)
{
	int64_t axes[32];
	return lb_softmax(r->x[0], axes_of((uint32_t)r->params[0], axes));
}

bool lb_compute_reduce(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0);
	return lb_kernel_reduce(exec, t->op, &x, (uint32_t)t->params[0], t->params[2], lb_tensor_data(t),
				(enum lb_dtype)t->dtype);
}

bool lb_compute_argreduce(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0);
	return lb_kernel_argreduce(exec, t->op, &x, (int)t->params[0], lb_tensor_data(t));
}

bool lb_compute_softmax(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0);
	return lb_kernel_softmax(exec, &x, (uint32_t)t->params[0], lb_tensor_data(t));
}
