#include "graph/promote.h"
#include "graph/shape.h"
#include "graph/tensor.h"
#include "kernels/model.h"
#include "ops/operation.h"

/* params: 0 axis, 1 how many (topk), which (partition), or, of a replay that sorts, whether a NaN is refused; 2 that, of one that
 * partitions */
static struct lb_tensor *sort_node(int op, struct lb_tensor *x, int axis, int64_t k, bool refuses_nan, const void *site)
{
	const char *name = lb_ops[op].name;
	if (!LB_GIVEN(name, x))
		return NULL;
	char text[LB_SHAPE_TEXT];
	int along;
	if (!lb_axis(name, axis, lb_shape_of(x), 0, &along))
		return NULL;
	if (x->dtype == LB_C64) {
		lb_fail("%s: complex numbers have no order", name);
		return NULL;
	}
	int64_t n = x->shape[along], shape[LB_MAX_RANK];
	if (n > UINT32_MAX) {
		lb_fail("%s: %s has more elements along axis %d than a uint32 index can tell", name,
			lb_shape_text(x->rank, x->shape, text), along);
		return NULL;
	}
	if (op == LB_OP_TOPK && (k < 0 || k > n)) {
		lb_fail("topk: the %lld largest of %s along axis %d: give a number from 0 to %lld", (long long)k,
			lb_shape_text(x->rank, x->shape, text), along, (long long)n);
		return NULL;
	}
	bool partitions = op == LB_OP_PARTITION || op == LB_OP_ARGPARTITION;
	if (partitions && (x->dtype == LB_I64 || x->dtype == LB_U64)) {
		lb_fail("%s: of %s; use lb_sort()", name, lb_dtypes[x->dtype].name);
		return NULL;
	}
	if (partitions && (k < -n || k >= n)) {
		lb_fail("%s: number %lld of %s along axis %d: give one from %lld on and below %lld", name, (long long)k,
			lb_shape_text(x->rank, x->shape, text), along, (long long)-n, (long long)n);
		return NULL;
	}
	if (partitions && k < 0)
		k += n;
	for (int i = 0; i < x->rank; i++)
		shape[i] = i == along && op == LB_OP_TOPK ? k : x->shape[i];
	bool gives_indices = op == LB_OP_ARGSORT || op == LB_OP_ARGPARTITION;
	struct lb_tensor *t =
	    lb_tensor_begin(op, gives_indices ? LB_U32 : (enum lb_dtype)x->dtype, x->rank, shape, 1, &x, site);
	if (t) {
		t->params[0] = along;
		t->params[1] = k;
		t->params[2] = refuses_nan;
	}
	return lb_tensor_publish(t);
}

lb_tensor *lb_sort(lb_tensor *x, int axis)
{
	LB_ENTER();
	return sort_node(LB_OP_SORT, x, axis, 0, false, site);
}

lb_tensor *lb_argsort(lb_tensor *x, int axis)
{
	LB_ENTER();
	return sort_node(LB_OP_ARGSORT, x, axis, 0, false, site);
}

lb_tensor *lb_topk(lb_tensor *x, int64_t k, int axis)
{
	LB_ENTER();
	return sort_node(LB_OP_TOPK, x, axis, k, false, site);
}

lb_tensor *lb_partition(lb_tensor *x, int64_t kth, int axis)
{
	LB_ENTER();
	return sort_node(LB_OP_PARTITION, x, axis, kth, false, site);
}

lb_tensor *lb_argpartition(lb_tensor *x, int64_t kth, int axis)
{
	LB_ENTER();
	return sort_node(LB_OP_ARGPARTITION, x, axis, kth, false, site);
}

lb_tensor *lb_searchsorted(lb_tensor *sorted, lb_tensor *values, bool right)
{
	LB_ENTER();
	static const char name[] = "searchsorted";
	if (!LB_GIVEN(name, sorted) || !LB_GIVEN(name, values))
		return NULL;
	char text[LB_SHAPE_TEXT];
	struct lb_tensor *xs[2] = { sorted, values };
	enum lb_dtype dtype;
	if (sorted->rank != 1 || sorted->size > UINT32_MAX) {
		lb_fail("%s: %s must have one axis, of at most 2^32 - 1 elements", name,
			lb_shape_text(sorted->rank, sorted->shape, text));
		return NULL;
	}
	if (!lb_common_dtype(name, 2, xs, &dtype, site))
		return NULL;
	if (dtype == LB_C64) {
		lb_fail("%s: complex numbers have no order", name);
		return NULL;
	}
	for (int i = 0; i < 2; i++) {
		xs[i] = lb_as(xs[i], dtype, site);
		if (!xs[i])
			return NULL;
	}
	struct lb_tensor *t = lb_tensor_begin(LB_OP_SEARCHSORTED, LB_U32, values->rank, values->shape, 2, xs, site);
	if (t)
		t->params[1] = right;
	return lb_tensor_publish(t);
}

struct lb_tensor *lb_remake_searchsorted(const struct lb_recipe *r)
{
	return lb_searchsorted(r->x[0], r->x[1], r->params[1]);
}

bool lb_compute_searchsorted(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view sorted = lb_view_of_input(t, 0), values = lb_view_of_input(t, 1);
	return lb_kernel_searchsorted(exec, &sorted, &values, t->params[1], lb_tensor_data(t));
}

struct lb_tensor *lb_remake_sort(const struct lb_recipe *r)
{
	return sort_node(r->op, r->x[0], (int)r->params[0], r->params[1], r->params[2], r->site);
}

bool lb_compute_sort(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0);
	enum lb_sort_kind kind = t->op == LB_OP_SORT      ? LB_SORT_VALUES
				 : t->op == LB_OP_ARGSORT ? LB_SORT_INDICES
							  : LB_SORT_TOP;
	return lb_kernel_sort(exec, kind, &x, (int)t->params[0], t->params[1], lb_tensor_data(t));
}

bool lb_compute_partition(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0);
	return lb_kernel_partition(exec, &x, (int)t->params[0], t->params[1], t->op == LB_OP_ARGPARTITION, t->params[2],
				   lb_tensor_data(t));
}
