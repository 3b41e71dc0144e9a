/* Operators whose result's shape depends on values: these are read, as a program would, and the rest is built on them. */
#include <stdlib.h>
#include <string.h>

#include "ops.h"

/* The places of the elements that are not 0, of the row-major ones: a tensor (n) of i64. */
static lb_tensor *places(lb_tensor *x)
{
	lb_tensor *flags = lb_astype(lb_reshape(x, LB_SHAPE(-1)), LB_BOOL);
	int64_t n = lb_size(flags), count = 0;
	const bool *data = lb_data(flags);
	int64_t *at = malloc((size_t)(n + 1) * sizeof *at);
	for (int64_t i = 0; data && at && i < n; i++)
		if (data[i])
			at[count++] = i;
	lb_tensor *y = data && at ? lb_from_data(at, (size_t)count * sizeof *at, LB_SHAPE(count), LB_I64) : NULL;
	free(at);
	return y;
}

static lb_tensor *non_zero(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *at = places(x), *rows[LB_MAX_RANK];
	int rank = lb_rank(x);
	for (int k = rank - 1; k >= 0; k--) {
		lb_tensor *size = lb_scalar_int(lb_dim(x, k));
		rows[k] = lb_remainder(at, size);
		at = lb_floor_divide(at, size);
	}
	return lb_stack(rank, rows, 0);
}

static lb_tensor *compress(struct onnx_call *c)
{
	bool along = onnx_has(c, "axis");
	lb_tensor *x = along ? c->in[0] : lb_reshape(c->in[0], LB_SHAPE(-1));
	return lb_take(x, places(c->in[1]), along ? (int)onnx_int(c, "axis", 0) : 0);
}

/* Slices along an axis as rows, of which each is as large as the first in the same order, by bubble sort: few are given. */
static lb_tensor *unique(struct onnx_call *c)
{
	bool along = onnx_has(c, "axis"), sorted = onnx_int(c, "sorted", 1);
	lb_tensor *x = along ? c->in[0] : lb_reshape(c->in[0], LB_SHAPE(-1));
	int axis = along ? onnx_axis(onnx_int(c, "axis", 0), lb_rank(x)) : 0;
	lb_tensor *rows = lb_astype(lb_reshape(lb_moveaxis(x, axis, 0), LB_SHAPE(lb_dim(x, axis), -1)), LB_F64);
	int64_t n = lb_dim(rows, 0), width = lb_dim(rows, 1), count = 0;
	const double *data = lb_data(rows);
	int64_t first[ONNX_MOST_VALUES], times[ONNX_MOST_VALUES] = { 0 }, inverse[ONNX_MOST_VALUES], rank[ONNX_MOST_VALUES];
	if (!data || n > ONNX_MOST_VALUES)
		return onnx_refuse(c, "%lld rows", (long long)n);
#define ROW(i) (data + (i) * width)
	for (int64_t i = 0; i < n; i++) {
		int64_t k = 0;
		while (k < count && memcmp(ROW(first[k]), ROW(i), (size_t)width * sizeof *data) != 0)
			k++;
		if (k == count)
			first[count++] = i;
		inverse[i] = k;
		times[k]++;
	}
	int64_t order[ONNX_MOST_VALUES], counts[ONNX_MOST_VALUES], firsts[ONNX_MOST_VALUES];
	for (int64_t k = 0; k < count; k++) { /* how many are less */
		rank[k] = sorted ? 0 : k;
		for (int64_t j = 0; j < count && sorted; j++) {
			int64_t at = 0;
			while (at < width && ROW(first[j])[at] == ROW(first[k])[at])
				at++;
			rank[k] += at < width && ROW(first[j])[at] < ROW(first[k])[at];
		}
		order[rank[k]] = k;
	}
	for (int64_t k = 0; k < count; k++) {
		firsts[k] = first[order[k]];
		counts[k] = times[order[k]];
	}
	for (int64_t i = 0; i < n; i++)
		inverse[i] = rank[inverse[i]];
	c->out[1] = lb_from_data(firsts, (size_t)count * 8, LB_SHAPE(count), LB_I64);
	c->out[2] = lb_from_data(inverse, (size_t)n * 8, LB_SHAPE(n), LB_I64);
	c->out[3] = lb_from_data(counts, (size_t)count * 8, LB_SHAPE(count), LB_I64);
	return lb_take(x, c->out[1], axis);
}

const struct onnx_op onnx_values_ops[] = {
	{ "Compress", .run = compress },
	{ "NonZero", .run = non_zero },
	{ "Unique", .run = unique },
	{ .name = NULL },
};
