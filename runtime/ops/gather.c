#include "graph/promote.h"
#include "base/plural.h"
#include "graph/shape.h"
#include "ops/operation.h"

bool lb_check_indices(const char *op, const struct lb_tensor *indices)
{
	if (indices->dtype < LB_U8 || indices->dtype > LB_I64)
		return lb_fail("%s: indices must be integers, not %s", op, lb_dtypes[indices->dtype].name);
	return true;
}

static struct lb_tensor *gather(int op, struct lb_tensor *x, struct lb_tensor *indices, int axis, int rank,
				const int64_t *shape, const void *site)
{
	struct lb_tensor *t =
	    lb_tensor_begin(op, (enum lb_dtype)x->dtype, rank, shape, 2, (struct lb_tensor *[]){ x, indices }, site);
	if (t)
		t->params[0] = axis;
	return lb_tensor_publish(t);
}

lb_tensor *lb_take(lb_tensor *x, lb_tensor *indices, int axis)
{
	LB_ENTER();
	if (!LB_GIVEN("take", x) || !LB_GIVEN("take", indices))
		return NULL;
	int along;
	if (!lb_check_indices("take", indices) || !lb_axis("take", axis, lb_shape_of(x), 0, &along))
		return NULL;
	int rank = x->rank - 1 + indices->rank;
	if (rank > LB_MAX_RANK) {
		lb_fail("take: the result would have %d %s, at most %d fit", rank, LB_PLURAL(rank, "axis", "axes"),
			LB_MAX_RANK);
		return NULL;
	}
	int64_t shape[LB_MAX_RANK];
	int n = 0;
	for (int i = 0; i < along; i++)
		shape[n++] = x->shape[i];
	for (int i = 0; i < indices->rank; i++)
		shape[n++] = indices->shape[i];
	for (int i = along + 1; i < x->rank; i++)
		shape[n++] = x->shape[i];
	return gather(LB_OP_TAKE, x, indices, along, rank, shape, site);
}

lb_tensor *lb_take_along_axis(lb_tensor *x, lb_tensor *indices, int axis)
{
	LB_ENTER();
	if (!LB_GIVEN("take_along_axis", x) || !LB_GIVEN("take_along_axis", indices))
		return NULL;
	int along;
	if (!lb_check_indices("take_along_axis", indices) ||
	    !lb_axis("take_along_axis", axis, lb_shape_of(x), 0, &along))
		return NULL;
	/* the axes besides `along` broadcast */
	int64_t shape[LB_MAX_RANK];
	bool fits = indices->rank == x->rank;
	for (int i = 0; i < x->rank && fits; i++) {
		int64_t a = x->shape[i], b = indices->shape[i];
		fits = i == along || a == b || a == 1 || b == 1;
		shape[i] = i == along || a == 1 ? b : a;
	}
	if (!fits) {
		char tx[LB_SHAPE_TEXT], ti[LB_SHAPE_TEXT];
		lb_fail("take_along_axis: x %s and indices %s must have as many axes, and broadcast on "
			"those besides %d",
			lb_shape_text(x->rank, x->shape, tx), lb_shape_text(indices->rank, indices->shape, ti), along);
		return NULL;
	}
	return gather(LB_OP_TAKE_ALONG, x, indices, along, x->rank, shape, site);
}

lb_tensor *lb_embedding(lb_tensor *weight, lb_tensor *indices)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("embedding", weight) || !LB_GIVEN("embedding", indices))
		return NULL;
	char text[LB_SHAPE_TEXT];
	if (weight->rank != 2 || indices->rank == LB_MAX_RANK) {
		lb_fail("embedding: weight %s must be (entries, features), and indices have %d axes at most",
			lb_shape_text(weight->rank, weight->shape, text), LB_MAX_RANK - 1);
		return NULL;
	}
	if (!lb_check_indices("embedding", indices))
		return NULL;
	int64_t shape[LB_MAX_RANK];
	for (int i = 0; i < indices->rank; i++)
		shape[i] = indices->shape[i];
	shape[indices->rank] = weight->shape[1];
	return gather(LB_OP_TAKE, weight, indices, 0, indices->rank + 1, shape, lb_fail_site_now());
}

/* ---- made anew, and computed ---- */

struct lb_tensor *lb_remake_take(const struct lb_recipe *r)
{
	return lb_take(r->x[0], r->x[1], (int)r->params[0]);
}

struct lb_tensor *lb_remake_take_along(const struct lb_recipe *r)
{
	return lb_take_along_axis(r->x[0], r->x[1], (int)r->params[0]);
}

bool lb_compute_take(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0), indices = lb_view_of_input(t, 1);
	return lb_kernel_take(exec, &x, &indices, (int)t->params[0], lb_tensor_data(t));
}

bool lb_compute_take_along(struct lb_exec *exec, struct lb_tensor *t)
{
	int axis = (int)t->params[0];
	struct lb_view x = lb_view_of_input(t, 0), indices = lb_view_of_input(t, 1);
	for (int i = 0; i < t->rank; i++) {
		if (i == axis)
			continue;
		x.strides[i] = x.shape[i] == 1 ? 0 : x.strides[i];
		indices.strides[i] = indices.shape[i] == 1 ? 0 : indices.strides[i];
		x.shape[i] = indices.shape[i] = t->shape[i];
	}
	return lb_kernel_take_along(exec, &x, &indices, axis, lb_tensor_data(t));
}
