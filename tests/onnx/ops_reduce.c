/* Reductions, orders and scans. */
#include <math.h>
#include <string.h>

#include "ops.h"

typedef lb_tensor *reduction(lb_tensor *x, lb_list axes, bool keepdims);

static lb_tensor *reduce(struct onnx_call *c, reduction *run)
{
	int64_t values[ONNX_MOST_VALUES];
	lb_tensor *x = c->in[0];
	lb_list axes = onnx_values_or(c, 1, "axes", values);
	bool keepdims = onnx_int(c, "keepdims", 1), noop = onnx_int(c, "noop_with_empty_axes", 0);
	if (axes.n <= 0 && noop)
		return x;
	return lb_astype(run(x, axes.n <= 0 ? LB_ALL_AXES : axes, keepdims), lb_dtype_of(x));
}

static lb_tensor *l1(lb_tensor *x, lb_list axes, bool keepdims)
{
	return lb_sum(lb_abs(x), axes, keepdims);
}

static lb_tensor *sum_square(lb_tensor *x, lb_list axes, bool keepdims)
{
	return lb_sum(lb_square(x), axes, keepdims);
}

static lb_tensor *l2(lb_tensor *x, lb_list axes, bool keepdims)
{
	return lb_sqrt(sum_square(x, axes, keepdims));
}

static lb_tensor *log_sum(lb_tensor *x, lb_list axes, bool keepdims)
{
	return lb_log(lb_sum(x, axes, keepdims));
}

/* Of nothing the largest is the least there is, and the other way round. */
static lb_tensor *extreme(reduction *run, double of_nothing, lb_tensor *x, lb_list axes, bool keepdims)
{
	if (lb_size(x))
		return run(x, axes, keepdims);
	return lb_add(lb_sum(x, axes, keepdims), lb_scalar(of_nothing));
}

static lb_tensor *largest(lb_tensor *x, lb_list axes, bool keepdims)
{
	return extreme(lb_max, -INFINITY, x, axes, keepdims);
}

static lb_tensor *smallest(lb_tensor *x, lb_list axes, bool keepdims)
{
	return extreme(lb_min, INFINITY, x, axes, keepdims);
}

static lb_tensor *reduce_l1(struct onnx_call *c)
{
	return reduce(c, l1);
}
static lb_tensor *reduce_l2(struct onnx_call *c)
{
	return reduce(c, l2);
}
static lb_tensor *reduce_log_sum(struct onnx_call *c)
{
	return reduce(c, log_sum);
}
static lb_tensor *reduce_log_sum_exp(struct onnx_call *c)
{
	return reduce(c, lb_logsumexp);
}
static lb_tensor *reduce_max(struct onnx_call *c)
{
	return reduce(c, largest);
}
static lb_tensor *reduce_mean(struct onnx_call *c)
{
	return reduce(c, lb_mean);
}
static lb_tensor *reduce_min(struct onnx_call *c)
{
	return reduce(c, smallest);
}
static lb_tensor *reduce_prod(struct onnx_call *c)
{
	return reduce(c, lb_prod);
}
static lb_tensor *reduce_sum(struct onnx_call *c)
{
	return reduce(c, lb_sum);
}
static lb_tensor *reduce_sum_square(struct onnx_call *c)
{
	return reduce(c, sum_square);
}

static lb_tensor *reversed(lb_tensor *x, int axis)
{
	lb_index index[LB_MAX_RANK];
	for (int k = 0; k < axis; k++)
		index[k] = LB_ALL;
	index[axis] = LB_REVERSED;
	return lb_slice_n(x, axis + 1, index);
}

/* The last of several equal elements is the first from behind. */
static lb_tensor *arg(struct onnx_call *c, reduction *run)
{
	lb_tensor *x = c->in[0];
	int axis = onnx_axis(onnx_int(c, "axis", 0), lb_rank(x));
	bool keepdims = onnx_int(c, "keepdims", 1);
	if (!onnx_int(c, "select_last_index", 0))
		return lb_astype(run(x, LB_AXES(axis), keepdims), LB_I64);
	lb_tensor *from_end = lb_astype(run(reversed(x, axis), LB_AXES(axis), keepdims), LB_I64);
	return lb_subtract(lb_scalar_int(lb_dim(x, axis) - 1), from_end);
}

static lb_tensor *arg_max(struct onnx_call *c)
{
	return arg(c, lb_argmax);
}
static lb_tensor *arg_min(struct onnx_call *c)
{
	return arg(c, lb_argmin);
}

static lb_tensor *top_k(struct onnx_call *c)
{
	int64_t values[ONNX_MOST_VALUES];
	lb_tensor *x = c->in[0];
	int axis = onnx_axis(onnx_int(c, "axis", -1), lb_rank(x));
	int64_t k = onnx_values(c, 1, values).n == 1 ? values[0] : 0;
	onnx_int(c, "sorted", 1); /* always */
	if (onnx_int(c, "largest", 1)) {
		/* descending, of equal ones the first first; unsigned numbers have no negatives */
		bool is_unsigned = lb_dtype_of(x) >= LB_U8 && lb_dtype_of(x) <= LB_U64;
		lb_tensor *order =
		    lb_argsort(is_unsigned ? lb_subtract(lb_max(x, LB_ALL_AXES, false), x) : lb_negative(x), axis);
		c->out[1] = lb_astype(onnx_part(order, axis, 0, k), LB_I64);
		return lb_topk(x, k, axis);
	}
	c->out[1] = lb_astype(onnx_part(lb_argsort(x, axis), axis, 0, k), LB_I64);
	return onnx_part(lb_sort(x, axis), axis, 0, k);
}

static lb_tensor *cum_sum(struct onnx_call *c)
{
	int64_t axis[ONNX_MOST_VALUES];
	if (onnx_values(c, 1, axis).n != 1)
		return NULL;
	return lb_cumsum(c->in[0], (int)axis[0], onnx_int(c, "reverse", 0), !onnx_int(c, "exclusive", 0));
}

/* x / (sum |x|^p)^(1/p) along an axis */
static lb_tensor *lp_norm(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	lb_list axis = LB_AXES(onnx_int(c, "axis", -1));
	lb_tensor *norm = onnx_int(c, "p", 2) == 1 ? l1(x, axis, true) : l2(x, axis, true);
	return lb_divide(x, norm);
}

static lb_tensor *softmax(struct onnx_call *c)
{
	return lb_softmax(c->in[0], LB_AXES(onnx_int(c, "axis", -1)));
}

static lb_tensor *log_softmax(struct onnx_call *c)
{
	return onnx_log_softmax(c->in[0], (int)onnx_int(c, "axis", -1));
}

/* 1 at the first largest element, else 0. */
static lb_tensor *hardmax(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	int rank = lb_rank(x), axis = onnx_axis(onnx_int(c, "axis", -1), rank);
	int64_t shape[LB_MAX_RANK];
	for (int k = 0; k < rank; k++)
		shape[k] = k == axis ? lb_dim(x, axis) : 1;
	lb_tensor *places = lb_reshape(onnx_iota(lb_dim(x, axis)), (lb_list){ rank, shape });
	return lb_astype(lb_equal(places, lb_argmax(x, LB_AXES(axis), true)), lb_dtype_of(x));
}

const struct onnx_op onnx_reduce[] = {
	{ "ArgMax", .run = arg_max },
	{ "ArgMin", .run = arg_min },
	{ "CumSum", .run = cum_sum },
	{ "Hardmax", .run = hardmax },
	{ "LogSoftmax", .run = log_softmax },
	{ "LpNormalization", .run = lp_norm },
	{ "ReduceL1", .run = reduce_l1 },
	{ "ReduceL2", .run = reduce_l2 },
	{ "ReduceLogSum", .run = reduce_log_sum },
	{ "ReduceLogSumExp", .run = reduce_log_sum_exp },
	{ "ReduceMax", .run = reduce_max },
	{ "ReduceMean", .run = reduce_mean },
	{ "ReduceMin", .run = reduce_min },
	{ "ReduceProd", .run = reduce_prod },
	{ "ReduceSum", .run = reduce_sum },
	{ "ReduceSumSquare", .run = reduce_sum_square },
	{ "Softmax", .run = softmax },
	{ "TopK", .run = top_k },
	{ .name = NULL },
};
