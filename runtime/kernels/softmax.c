/* softmax: exp(x - max) / sum. Rows that are contiguous go one by one, in float or double
 * and in place of the result; everything else is two reductions and a fused chain. */
#include "kernels/softmax.h"

#include "kernels/layout.h"
#include "kernels/tile.h"

enum { GRAIN = 1 << 14 };

struct rows {
	const struct lb_tiles *tiles;
	const char *x;
	char *to;
	int dtype, stage;
	int64_t n, bytes, x_stride; /* elements of a row; from one row of x to the next */
};

static void softmax_rows(void *arg, int64_t begin, int64_t end)
{
	const struct rows *rows = arg;
	float wide[LB_SOFTMAX_ROW];
	for (int64_t i = begin; i < end; i++) {
		const char *x = rows->x + i * rows->x_stride * rows->bytes;
		char *to = rows->to + i * rows->n * rows->bytes;
		if (rows->stage == rows->dtype) {
			rows->tiles->softmax(rows->n, to, x, rows->stage);
			continue;
		}
		rows->tiles->convert(rows->stage, rows->dtype)(rows->n, wide, x, NULL, NULL);
		rows->tiles->softmax(rows->n, wide, wide, rows->stage);
		rows->tiles->convert(rows->dtype, rows->stage)(rows->n, to, wide, NULL, NULL);
	}
}

/* Are the masked axes one contiguous row, and the others evenly apart? */
static bool plan_rows(struct rows *rows, const struct lb_view *x, uint32_t mask, int64_t *n_rows)
{
	int first = x->rank;
	while (first > 0 && (mask >> (first - 1) & 1))
		first--;
	if (mask != ((1u << x->rank) - 1) - ((1u << first) - 1) || first == x->rank)
		return false;
	int64_t shape[LB_MAX_RANK], strides[1][LB_MAX_RANK];
	memcpy(shape, x->shape, sizeof shape);
	memcpy(strides[0], x->strides, sizeof strides[0]);
	if (!lb_is_dense(x->rank - first, shape + first, strides[0] + first))
		return false;
	rows->n = lb_shape_size(x->rank - first, shape + first);
	*n_rows = lb_shape_size(first, shape);
	int rank = lb_join_axes(first, shape, 1, strides);
	rows->x_stride = rank ? strides[0][0] : 0;
	return rank <= 1 && (rows->stage == rows->dtype || rows->n <= LB_SOFTMAX_ROW);
}

static bool general(struct lb_exec *exec, const struct lb_view *x, uint32_t mask, void *to, int stage)
{
	int64_t outputs = 1, stride = 1;
	for (int i = 0; i < x->rank; i++)
		outputs *= mask >> i & 1 ? 1 : x->shape[i];
	int64_t bytes;
	if (!lb_mul(outputs, lb_width_of(stage), &bytes))
		return lb_fail("softmax: %lld rows are too many", (long long)outputs);
	void *tops = exec->scratch(exec, bytes), *sums = exec->scratch(exec, bytes);
	int64_t all;
	if (!lb_mul(lb_shape_size(x->rank, x->shape), lb_width_of(stage), &all))
		return lb_fail("softmax: array is too large");
	void *powers = stage == (int)x->dtype ? to : exec->scratch(exec, all);
	if (!tops || !sums || !powers || !lb_kernel_reduce(exec, LB_OP_MAX, x, mask, 0, tops, x->dtype))
		return false;
	struct lb_view top = { .data = tops, .dtype = x->dtype, .rank = x->rank }, power, sum;
	power = (struct lb_view){ .data = powers, .dtype = (enum lb_dtype)stage, .rank = x->rank };
	int64_t dense = 1;
	for (int i = x->rank - 1; i >= 0; i--) {
		top.shape[i] = power.shape[i] = x->shape[i];
		top.strides[i] = mask >> i & 1 ? 0 : stride;
		stride *= mask >> i & 1 ? 1 : x->shape[i];
		power.strides[i] = dense;
		dense *= x->shape[i];
	}
	sum = top;
	sum.data = sums;
	sum.dtype = (enum lb_dtype)stage;
	struct lb_fuse fuse = { .rank = x->rank, .n_inputs = 2, .inputs = { *x, top }, .n_outputs = 1 };
	memcpy(fuse.shape, x->shape, sizeof fuse.shape);
	/* r2, r3 = x, max in the stage's dtype; r4 = x - max; r5 = exp */
	fuse.dtypes[0] = fuse.dtypes[1] = (uint8_t)x->dtype;
	for (int r = 2; r < 6; r++)
		fuse.dtypes[r] = (uint8_t)stage;
	fuse.insns[0] = (struct lb_fuse_insn){ .op = LB_OP_ASTYPE, .dst = 2, .a = 0 };
	fuse.insns[1] = (struct lb_fuse_insn){ .op = LB_OP_ASTYPE, .dst = 3, .a = 1 };
	fuse.insns[2] = (struct lb_fuse_insn){ .op = LB_OP_SUBTRACT, .dst = 4, .a = 2, .b = 3 };
	fuse.insns[3] = (struct lb_fuse_insn){ .op = LB_OP_EXP, .dst = 5, .a = 4 };
	fuse.n_insns = 4;
	fuse.outputs[0].reg = 5;
	fuse.outputs[0].data = powers;
	if (!lb_kernel_fused(exec, &fuse) ||
	    !lb_kernel_reduce(exec, LB_OP_SUM, &power, mask, 0, sums, (enum lb_dtype)stage))
		return false;
	/* r2 = exp / sum; r3 = that in x's dtype */
	fuse.inputs[0] = power;
	fuse.inputs[1] = sum;
	fuse.dtypes[0] = fuse.dtypes[1] = fuse.dtypes[2] = (uint8_t)stage;
	fuse.dtypes[3] = (uint8_t)x->dtype;
	fuse.insns[0] = (struct lb_fuse_insn){ .op = LB_OP_DIVIDE, .dst = 2, .a = 0, .b = 1 };
	fuse.insns[1] = (struct lb_fuse_insn){ .op = LB_OP_ASTYPE, .dst = 3, .a = 2 };
	fuse.n_insns = 2;
	fuse.outputs[0].reg = 3;
	fuse.outputs[0].data = to;
	return lb_kernel_fused(exec, &fuse);
}

bool lb_kernel_softmax(struct lb_exec *exec, const struct lb_view *x, uint32_t mask, void *to)
{
	if (!lb_dtype_is_float(x->dtype))
		return lb_fail("softmax: %s is not a floating dtype", lb_dtypes[x->dtype].name);
	int64_t n_rows;
	struct rows rows = { .tiles = lb_tiles(),
			     .x = x->data,
			     .to = to,
			     .dtype = x->dtype,
			     .stage = x->dtype == LB_F64 ? LB_F64 : LB_F32,
			     .bytes = lb_width_of(x->dtype) };
	if (lb_shape_size(x->rank, x->shape) == 0)
		return true;
	if (!plan_rows(&rows, x, mask, &n_rows))
		return general(exec, x, mask, to, rows.stage);
	lb_parallel(exec, n_rows, GRAIN / rows.n + 1, softmax_rows, &rows);
	return true;
}
