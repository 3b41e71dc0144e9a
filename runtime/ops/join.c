#include <stdlib.h>
#include <string.h>

#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/operation.h"

/* All as one dtype; the caller frees the array. */
static struct lb_tensor **promote_all(const char *op, int n, struct lb_tensor *const *xs, const void *site)
{
	if (n <= 0)
		lb_fail("%s: needs at least one tensor", op);
	if (!LB_GIVEN_LIST(op, n, xs) || n <= 0)
		return NULL;
	for (int i = 0; i < n; i++) {
		if (!xs[i]) {
			lb_fail_null_at(op, i, n);
			return NULL;
		}
	}
	enum lb_dtype dtype;
	if (!lb_common_dtype(op, n, xs, &dtype, site))
		return NULL;
	struct lb_tensor **all = malloc((size_t)n * sizeof *all);
	if (!all) {
		lb_fail("%s: out of memory for %d tensors", op, n);
		return NULL;
	}
	for (int i = 0; i < n; i++) {
		all[i] = lb_as(xs[i], dtype, site);
		if (!all[i]) {
			free(all);
			return NULL;
		}
	}
	return all;
}

static bool joined_shape(int n, struct lb_tensor *const *xs, int axis, int64_t *shape)
{
	const struct lb_tensor *first = xs[0];
	memcpy(shape, first->shape, sizeof first->shape);
	for (int i = 1; i < n; i++) {
		bool fits = xs[i]->rank == first->rank;
		for (int k = 0; k < first->rank && fits; k++)
			fits = k == axis || xs[i]->shape[k] == first->shape[k];
		if (!fits) {
			char a[LB_SHAPE_TEXT], b[LB_SHAPE_TEXT];
			return lb_fail("concatenate: tensor %d is %s, tensor 0 is %s: they may differ along axis %d "
				       "only",
				       i, lb_shape_text(xs[i]->rank, xs[i]->shape, a),
				       lb_shape_text(first->rank, first->shape, b), axis);
		}
		if (!lb_sum_of(shape[axis], xs[i]->shape[axis], &shape[axis]))
			return lb_fail("concatenate: the sizes along axis %d add up to more than 63 bits", axis);
	}
	return true;
}

static struct lb_tensor *concatenate(int n, struct lb_tensor *const *xs, int axis, const void *site)
{
	int64_t shape[LB_MAX_RANK];
	if (!joined_shape(n, xs, axis, shape))
		return NULL;
	struct lb_tensor *t =
	    lb_tensor_begin(LB_OP_CONCATENATE, (enum lb_dtype)xs[0]->dtype, xs[0]->rank, shape, n, xs, site);
	if (t)
		t->params[0] = axis;
	return lb_tensor_publish(t);
}

lb_tensor *lb_concatenate(int n, lb_tensor *const *xs, int axis)
{
	LB_ENTER();
	struct lb_tensor **all = promote_all("concatenate", n, xs, site);
	if (!all)
		return NULL;
	struct lb_tensor *result = NULL;
	int along;
	if (lb_axis("concatenate", axis, lb_shape_of(all[0]), 0, &along))
		result = concatenate(n, all, along, site);
	free(all);
	return result;
}

lb_tensor *lb_stack(int n, lb_tensor *const *xs, int axis)
{
	LB_ENTER();
	struct lb_tensor **all = promote_all("stack", n, xs, site);
	if (!all)
		return NULL;
	struct lb_tensor *result = NULL;
	int along;
	bool ok = lb_axis("stack", axis, lb_shape_of(all[0]), 1, &along);
	if (ok && all[0]->rank == LB_MAX_RANK) {
		char text[LB_SHAPE_TEXT];
		ok = lb_fail("stack: %s already has %d axes, and a tensor can have no more",
			     lb_shape_text(all[0]->rank, all[0]->shape, text), LB_MAX_RANK);
	}
	for (int i = 0; i < n && ok; i++) {
		ok = lb_same_shape(all[i]->rank, all[i]->shape, all[0]->rank, all[0]->shape);
		if (!ok) {
			char a[LB_SHAPE_TEXT], b[LB_SHAPE_TEXT];
			lb_fail("stack: tensor %d is %s, tensor 0 is %s: all must have one shape", i,
				lb_shape_text(all[i]->rank, all[i]->shape, a),
				lb_shape_text(all[0]->rank, all[0]->shape, b));
		}
	}
	/* the first is needed unexpanded for the comparison, so they are expanded last */
	for (int i = 0; i < n && ok; i++) {
		all[i] = lb_expand_dims(all[i], LB_AXES(along));
		ok = all[i] != NULL;
		if (ok)
			all[i]->site = (uint64_t)(uintptr_t)site;
	}
	if (ok)
		result = concatenate(n, all, along, site);
	free(all);
	return result;
}

/* ---- made anew, and computed ---- */

struct lb_tensor *lb_remake_concatenate(const struct lb_recipe *r)
{
	return lb_concatenate(r->n, r->x, (int)r->params[0]);
}

bool lb_compute_concatenate(struct lb_exec *exec, struct lb_tensor *t)
{
	int axis = (int)t->params[0];
	struct lb_view to = lb_view_of(t);
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		struct lb_view from = lb_view_of_input(t, i);
		to.shape[axis] = from.shape[axis];
		if (!lb_kernel_copy(exec, &to, &from))
			return false;
		to.data = (char *)to.data + from.shape[axis] * t->strides[axis] * lb_dtypes[t->dtype].bytes;
	}
	return true;
}
