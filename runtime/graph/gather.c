#include <string.h>

#include "graph/shape.h"
#include "graph/tensor.h"

static bool check_indices(const char *op, const struct lb_tensor *indices)
{
	if (indices->dtype < LB_U8 || indices->dtype > LB_I64)
		return lb_fail("%s: indices must be integers, not %s", op, lb_dtypes[indices->dtype].name);
	return true;
}

static struct lb_tensor *gather(int op, struct lb_tensor *x, struct lb_tensor *indices, int axis, int rank,
				const int64_t *shape, const void *site)
{
	struct lb_tensor *t = lb_tensor_begin(op, (enum lb_dtype)x->dtype, rank, shape, 2,
					      (struct lb_tensor *[]){ x, indices }, site);
	if (t)
		t->params[0] = axis;
	return lb_tensor_publish(t);
}

lb_tensor *lb_take(lb_tensor *x, lb_tensor *indices, int axis)
{
	LB_ENTER();
	if (!x || !indices)
		return NULL;
	int along;
	if (!check_indices("take", indices) || !lb_axis("take", axis, x->rank, &along))
		return NULL;
	int rank = x->rank - 1 + indices->rank;
	if (rank > LB_MAX_RANK) {
		lb_fail("take: the result would have %d axes, at most %d fit", rank, LB_MAX_RANK);
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
	if (!x || !indices)
		return NULL;
	int along;
	if (!check_indices("take_along_axis", indices) ||
	    !lb_axis("take_along_axis", axis, x->rank, &along))
		return NULL;
	if (indices->rank != x->rank) {
		lb_fail("take_along_axis: indices have %d axes, x has %d: they must agree", indices->rank,
			x->rank);
		return NULL;
	}
	/* the axes besides `along` broadcast */
	int64_t a[LB_MAX_RANK], b[LB_MAX_RANK], shape[LB_MAX_RANK];
	int rank;
	memcpy(a, x->shape, sizeof a);
	memcpy(b, indices->shape, sizeof b);
	a[along] = 1;
	if (!lb_broadcast("take_along_axis", x->rank, a, x->rank, b, &rank, shape))
		return NULL;
	return gather(LB_OP_TAKE_ALONG, x, indices, along, rank, shape, site);
}
