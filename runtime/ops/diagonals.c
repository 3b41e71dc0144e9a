/* Diagonals, and the triangles at both sides of them. */
#include "base/plural.h"
#include "graph/promote.h"
#include "graph/shape.h"

/* bool: where the column is no further right than diagonal k. */
static struct lb_tensor *below(int64_t rows, int64_t cols, int64_t k)
{
	k = k > cols ? cols : k < -rows ? -rows : k;
	struct lb_tensor *row = lb_arange((double)k, (double)(k + rows), 1, LB_I64);
	struct lb_tensor *column = lb_arange(0, (double)cols, 1, LB_I64);
	return lb_less_equal(column, lb_expand_dims(row, LB_AXES(1)));
}

lb_tensor *lb_tri(int64_t rows, int64_t cols, int64_t k, lb_dtype dtype)
{
	LB_ENTER_WHOLE();
	int64_t size;
	if ((unsigned)dtype >= LB_DTYPES) {
		lb_fail("tri: %d is not a dtype", (int)dtype);
		return NULL;
	}
	if (!lb_check_shape("tri", 2, (int64_t[]){ rows, cols }, LB_I64, &size))
		return NULL;
	return lb_astype(below(rows, cols, k), dtype);
}

static bool check_matrix(const char *name, const struct lb_tensor *x)
{
	return x->rank >= 2 || lb_fail("%s: needs 2 axes or more, x has %d", name, x->rank);
}

static struct lb_tensor *triangle(const char *name, struct lb_tensor *x, int64_t k, bool is_upper)
{
	if (!LB_GIVEN(name, x) || !check_matrix(name, x))
		return NULL;
	struct lb_tensor *is_below = below(x->shape[x->rank - 2], x->shape[x->rank - 1], k);
	struct lb_tensor *zero = lb_zeros(LB_SHAPE(), (enum lb_dtype)x->dtype);
	return lb_where(is_below, is_upper ? zero : x, is_upper ? x : zero);
}

lb_tensor *lb_tril(lb_tensor *x, int64_t k)
{
	LB_ENTER_WHOLE();
	return triangle("tril", x, k, false);
}

lb_tensor *lb_triu(lb_tensor *x, int64_t k)
{
	LB_ENTER_WHOLE();
	return triangle("triu", x, k == INT64_MIN ? k : k - 1, true);
}

static struct lb_tensor *diagonal(const char *name, struct lb_tensor *x, int64_t k, int axis_1, int axis_2)
{
	int a, b, rank = 0;
	if (!LB_GIVEN(name, x) || !check_matrix(name, x) || !lb_axis(name, axis_1, lb_shape_of(x), 0, &a) ||
	    !lb_axis(name, axis_2, lb_shape_of(x), 0, &b))
		return NULL;
	if (a == b) {
		lb_fail("%s: axis %d twice; a diagonal goes along two", name, a);
		return NULL;
	}
	int64_t row[LB_MAX_RANK], shape[LB_MAX_RANK], strides[LB_MAX_RANK];
	lb_row_strides(x->rank, x->shape, row);
	for (int i = 0; i < x->rank; i++) {
		if (i == a || i == b)
			continue;
		shape[rank] = x->shape[i];
		strides[rank++] = row[i];
	}
	int64_t rows = x->shape[a], cols = x->shape[b];
	k = k > cols ? cols : k < -rows ? -rows : k;
	int64_t down = k < 0 ? -k : 0, right = k > 0 ? k : 0;
	int64_t n = rows - down < cols - right ? rows - down : cols - right;
	shape[rank] = n;
	strides[rank++] = row[a] + row[b];
	return lb_as_strided(x, (lb_list){ rank, shape }, (lb_list){ rank, strides },
			     n ? down * row[a] + right * row[b] : 0);
}

lb_tensor *lb_diagonal(lb_tensor *x, int64_t k, int axis_1, int axis_2)
{
	LB_ENTER_WHOLE();
	return diagonal("diagonal", x, k, axis_1, axis_2);
}

lb_tensor *lb_diag(lb_tensor *x, int64_t k)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("diag", x))
		return NULL;
	if (x->rank != 1 && x->rank != 2) {
		lb_fail("diag: of 1 axis, or of 2, not of %d", x->rank);
		return NULL;
	}
	if (x->rank == 2)
		return diagonal("diag", x, k, 0, 1);
	int64_t n, size;
	if (k == INT64_MIN || !lb_sum_of(x->shape[0], k < 0 ? -k : k, &n) ||
	    !lb_check_shape("diag", 2, (int64_t[]){ n, n }, (enum lb_dtype)x->dtype, &size)) {
		lb_fail("diag: diagonal %lld of so large a matrix", (long long)k);
		return NULL;
	}
	struct lb_tensor *row = lb_pad(x, LB_SHAPE(k > 0 ? k : 0), LB_SHAPE(k < 0 ? -k : 0), 0);
	return lb_where(lb_eye(n, n, k, LB_BOOL), row, lb_zeros(LB_SHAPE(), (enum lb_dtype)x->dtype));
}

lb_tensor *lb_trace(lb_tensor *x, int64_t k, int axis_1, int axis_2)
{
	LB_ENTER_WHOLE();
	struct lb_tensor *y = diagonal("trace", x, k, axis_1, axis_2);
	return y ? lb_sum(y, LB_AXES(-1), false) : NULL;
}
