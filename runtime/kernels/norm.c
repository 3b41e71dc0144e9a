#include "kernels/model.h"
#include "kernels/row.h"
#include "kernels/share.h"

enum { GRAIN = 1 << 14 };

struct norm {
	const struct lb_tiles *tiles;
	const struct lb_view *x;
	const void *weight, *bias;
	double eps;
	bool center;
	char *to;
};

static void norm_row(void *arg, void *scratch, int64_t row)
{
	const struct norm *norm = arg;
	const struct lb_view *x = norm->x;
	int last = x->rank - 1, stage = lb_stage_of(x->dtype);
	int64_t n = x->shape[last], bytes = lb_width_of(x->dtype), index[LB_MAX_RANK];
	lb_index_of(last, x->shape, row, index);
	const char *from = (const char *)x->data + lb_offset_of(last, index, x->strides) * bytes;
	char *to = norm->to + row * n * bytes;
	void *result = stage == (int)x->dtype ? to : scratch;
	const void *values = lb_row_in(norm->tiles, x->dtype, from, n, x->strides[last], result);
	norm->tiles->norm(n, result, values, norm->weight, norm->bias, norm->eps, norm->center, stage);
	lb_row_out(norm->tiles, x->dtype, to, result, n);
}

/* A vector in the stage's dtype, copied if it must be. */
static bool widen(struct lb_exec *exec, const struct lb_view *vector, const void **ret)
{
	*ret = NULL;
	if (!vector)
		return true;
	void *to = exec->scratch(exec, vector->shape[0] * lb_width_of(lb_stage_of(vector->dtype)));
	if (!to)
		return false;
	*ret = lb_row_in(lb_tiles(), vector->dtype, vector->data, vector->shape[0], vector->strides[0], to);
	return true;
}

bool lb_kernel_norm(struct lb_exec *exec, const char *op, const struct lb_view *x,
		    const struct lb_view *weight, const struct lb_view *bias, double eps, bool center,
		    void *to)
{
	if (x->rank < 1 || !lb_dtype_is_float(x->dtype))
		return lb_fail("%s: not defined for %s of %d axes", op, lb_dtypes[x->dtype].name, x->rank);
	struct norm norm = { .tiles = lb_tiles(), .x = x, .eps = eps, .center = center, .to = to };
	int64_t size = lb_shape_size(x->rank, x->shape), n = x->shape[x->rank - 1];
	if (size == 0)
		return true;
	if (!widen(exec, weight, &norm.weight) || !widen(exec, bias, &norm.bias))
		return false;
	return lb_share(exec, size / n, GRAIN / n + 1, lb_bytes_of(n, 1, lb_width_of(lb_stage_of(x->dtype))),
			norm_row, &norm);
}
