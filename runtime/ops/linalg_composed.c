/* Linear algebra that is made of other operations. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/promote.h"
#include "graph/shape.h"

lb_tensor *lb_cholesky_inv(lb_tensor *factor, bool upper)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("cholesky_inv", factor))
		return NULL;
	struct lb_tensor *inverse = lb_tri_inv(factor, upper);
	struct lb_tensor *across = inverse ? lb_swapaxes(inverse, -1, -2) : NULL;
	return across ? lb_matmul(upper ? inverse : across, upper ? across : inverse) : NULL;
}

lb_tensor *lb_pinv(lb_tensor *x)
{
	LB_ENTER_WHOLE();
	struct lb_tensor *u, *s, *vt;
	if (!LB_GIVEN("pinv", x) || !lb_svd(x, &u, &s, &vt))
		return NULL;
	int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1], k = m < n ? m : n;
	if (k == 0) {
		int64_t shape[LB_MAX_RANK];
		for (int i = 0; i < x->rank; i++)
			shape[i] = i < x->rank - 2 ? x->shape[i] : i == x->rank - 2 ? n : m;
		return lb_zeros((lb_list){ x->rank, shape }, (enum lb_dtype)x->dtype);
	}
	double least = 10.0 * (double)(m > n ? m : n) * (x->dtype == LB_F64 ? DBL_EPSILON : (double)FLT_EPSILON);
	struct lb_tensor *bound = lb_multiply(lb_max(s, LB_AXES(-1), true), lb_scalar(least));
	struct lb_tensor *inverse = lb_where(lb_greater(s, bound), lb_reciprocal(s), lb_scalar(0));
	struct lb_tensor *v = lb_conjugate(lb_swapaxes(lb_slice(vt, LB_REST, LB_RANGE(0, k), LB_ALL), -1, -2));
	struct lb_tensor *across = lb_conjugate(lb_swapaxes(lb_slice(u, LB_REST, LB_RANGE(0, k)), -1, -2));
	return lb_matmul(lb_multiply(v, lb_expand_dims(inverse, LB_AXES(-2))), across);
}

/* |x| of a floating dtype. */
static struct lb_tensor *sizes(struct lb_tensor *x)
{
	return lb_abs(lb_astype(x, lb_inexact((enum lb_dtype)x->dtype)));
}

lb_tensor *lb_norm(lb_tensor *x, lb_list axes, bool keepdims)
{
	LB_ENTER_WHOLE();
	uint32_t mask;
	if (!LB_GIVEN("norm", x) || !lb_axis_mask("norm", axes, lb_shape_of(x), 0, &mask))
		return NULL;
	struct lb_tensor *y = x->dtype == LB_C64 ? lb_abs(x) : lb_astype(x, lb_inexact((enum lb_dtype)x->dtype));
	return lb_sqrt(lb_sum(lb_square(y), axes, keepdims));
}

lb_tensor *lb_vector_norm(lb_tensor *x, double order, int axis, bool keepdims)
{
	LB_ENTER_WHOLE();
	int along;
	if (!LB_GIVEN("vector_norm", x) || !lb_axis("vector_norm", axis, lb_shape_of(x), 0, &along))
		return NULL;
	if (isnan(order)) {
		lb_fail("vector_norm: of order NaN");
		return NULL;
	}
	lb_list axes = LB_AXES(along);
	if (order == 2)
		return lb_norm(x, axes, keepdims);
	struct lb_tensor *y = sizes(x);
	if (isinf(order))
		return order > 0 ? lb_max(y, axes, keepdims) : lb_min(y, axes, keepdims);
	if (order == 0)
		return y ? lb_astype(lb_sum(lb_not_equal(y, lb_scalar(0)), axes, keepdims), (enum lb_dtype)y->dtype)
			 : NULL;
	if (order == 1)
		return lb_sum(y, axes, keepdims);
	return lb_power(lb_sum(lb_power(y, lb_scalar(order)), axes, keepdims), lb_scalar(1 / order));
}

/* x without these two axes, or with 1 in their place. */
static struct lb_tensor *with_axes(struct lb_tensor *y, bool keepdims, int rows, int columns)
{
	return keepdims ? lb_expand_dims(y, LB_AXES(rows, columns)) : y;
}

lb_tensor *lb_matrix_norm(lb_tensor *x, double order, int rows, int columns, bool keepdims)
{
	LB_ENTER_WHOLE();
	const char *const name = "matrix_norm";
	int row, column;
	if (!LB_GIVEN(name, x) || !lb_axis(name, rows, lb_shape_of(x), 0, &row) ||
	    !lb_axis(name, columns, lb_shape_of(x), 0, &column))
		return NULL;
	if (row == column) {
		lb_fail("matrix_norm: axis %d is that of rows and of columns", row);
		return NULL;
	}
	bool by_columns = fabs(order) == 1;
	if (by_columns || isinf(order)) {
		struct lb_tensor *y = lb_sum(sizes(x), LB_AXES(by_columns ? row : column), true);
		lb_list axes = LB_AXES(row, column);
		return order > 0 ? lb_max(y, axes, keepdims) : lb_min(y, axes, keepdims);
	}
	if (order != 0 && fabs(order) != 2) {
		lb_fail("matrix_norm: of order %g: takes 1, -1, 2, -2, INFINITY, -INFINITY, and 0 for the nuclear norm",
			order);
		return NULL;
	}
	int64_t from = row, last = column - (column > row);
	struct lb_tensor *y = lb_moveaxis(x, (int)from, -1);
	struct lb_tensor *s = y ? lb_svdvals(lb_moveaxis(y, (int)last, -1)) : NULL; /* of the transposed: the same */
	if (!s)
		return NULL;
	lb_tensor *(*of)(lb_tensor *, lb_list, bool) = order == 0 ? lb_sum : order > 0 ? lb_max : lb_min;
	s = of(s, LB_AXES(-1), false);
	return with_axes(s, keepdims, row, column);
}

/* The axis counted from the end, in an operand of 2 or 3 along it. */
static bool has_components(const struct lb_tensor *x, int axis, int64_t *ret)
{
	char text[LB_SHAPE_TEXT];
	int64_t n = -axis <= x->rank ? x->shape[x->rank + axis] : 0;
	*ret = n;
	return n == 2 || n == 3 ||
	       lb_fail("cross: %s has no 2 or 3 elements along axis %d", lb_shape_text(x->rank, x->shape, text), axis);
}

/* a[i] * b[j] - a[j] * b[i], where what is not there is 0. */
static struct lb_tensor *component(lb_tensor *const *a, lb_tensor *const *b, int i, int j)
{
	struct lb_tensor *left = a[i] && b[j] ? lb_multiply(a[i], b[j]) : NULL;
	struct lb_tensor *right = a[j] && b[i] ? lb_multiply(a[j], b[i]) : NULL;
	return left && right ? lb_subtract(left, right) : left ? left : right ? lb_negative(right) : NULL;
}

lb_tensor *lb_cross(lb_tensor *a, lb_tensor *b, int axis)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("cross", a) || !LB_GIVEN("cross", b))
		return NULL;
	const struct lb_tensor *longer = a->rank > b->rank ? a : b;
	int along;
	int64_t of_a, of_b;
	if (!lb_axis("cross", axis, lb_shape_of(longer), 0, &along))
		return NULL;
	along -= longer->rank;
	if (!has_components(a, along, &of_a) || !has_components(b, along, &of_b))
		return NULL;
	int rank;
	int64_t shape[LB_MAX_RANK], all[LB_MAX_RANK];
	memcpy(shape, b->shape, sizeof shape);
	shape[b->rank + along] = of_a; /* of 2 or 3, as it likes */
	if (!lb_broadcast("cross", a->rank, a->shape, b->rank, shape, &rank, all))
		return NULL;
	lb_tensor *as[3] = { NULL }, *bs[3] = { NULL }, *out[3];
	if (!lb_split(a, (int)of_a, along, as) || !lb_split(b, (int)of_b, along, bs))
		return NULL;
	for (int i = 3; i-- > 0;) {
		out[i] = component(as, bs, (i + 1) % 3, (i + 2) % 3);
		if (!out[i] && !lb_ok())
			return NULL;
		if (!out[i]) /* of two planes: what is left is the third */
			out[i] = lb_zeros_like(out[2]);
		if (!out[i])
			return NULL;
	}
	return lb_concatenate(3, out, along);
}
