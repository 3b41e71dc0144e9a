/* Operators whose result's shape depends on values: these are read, as a program would, and the rest is built on them. */
#include <stdlib.h>
#include <string.h>

#include "ops.h"

lb_tensor *onnx_places(lb_tensor *x)
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
	lb_tensor *x = c->in[0], *at = onnx_places(x), *rows[LB_MAX_RANK];
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
	return lb_take(x, onnx_places(c->in[1]), along ? (int)onnx_int(c, "axis", 0) : 0);
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
	int64_t first[ONNX_MOST_VALUES], times[ONNX_MOST_VALUES] = { 0 }, inverse[ONNX_MOST_VALUES],
					 rank[ONNX_MOST_VALUES];
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

/* One corner and the opposite one of boxes (n, 4), whichever way they are given. */
static void corners(lb_tensor *boxes, bool centred, lb_tensor *low[2], lb_tensor *high[2])
{
	for (int k = 0; k < 2; k++) { /* y, x; of centred boxes x, y, width, height */
		lb_tensor *a = lb_slice(boxes, LB_ALL, LB_AT(k)), *b = lb_slice(boxes, LB_ALL, LB_AT(k + 2));
		lb_tensor *half = lb_multiply(b, lb_scalar(0.5));
		low[k] = centred ? lb_subtract(a, half) : lb_minimum(a, b);
		high[k] = centred ? lb_add(a, half) : lb_maximum(a, b);
	}
}

/* How much of two boxes is in both, of each with each: (n, n). */
static lb_tensor *intersection_over_union(lb_tensor *boxes, bool centred)
{
	lb_tensor *low[2], *high[2], *sides[2], *both[2];
	corners(boxes, centred, low, high);
	for (int k = 0; k < 2; k++) {
		lb_tensor *first = lb_maximum(lb_expand_dims(low[k], LB_AXES(1)), low[k]);
		sides[k] = lb_subtract(high[k], low[k]);
		both[k] = lb_maximum(lb_subtract(lb_minimum(lb_expand_dims(high[k], LB_AXES(1)), high[k]), first),
				     lb_scalar(0));
	}
	lb_tensor *area = lb_multiply(sides[0], sides[1]), *shared = lb_multiply(both[0], both[1]);
	return lb_divide(shared, lb_subtract(lb_add(lb_expand_dims(area, LB_AXES(1)), area), shared));
}

/* Which of the boxes of one class stay, the best first: those that no better one that stays covers too much of. */
static lb_tensor *best_boxes(lb_tensor *boxes, lb_tensor *scores, int64_t most, double covered, lb_tensor *least,
			     bool centred)
{
	lb_tensor *order = lb_argsort(lb_negative(scores), 0), *rank = onnx_iota(lb_size(scores));
	lb_tensor *clash = lb_greater(intersection_over_union(lb_take(boxes, order, 0), centred), lb_scalar(covered));
	lb_tensor *stays =
	    least ? lb_greater(lb_take(scores, order, 0), least) : lb_ones(LB_SHAPE(lb_size(scores)), LB_BOOL);
	for (int64_t i = 0; i < lb_size(scores); i++) {
		lb_tensor *gone = lb_logical_and(lb_slice(clash, LB_AT(i)), lb_greater(rank, lb_scalar_int(i)));
		stays = lb_logical_and(stays, lb_logical_not(lb_logical_and(gone, lb_slice(stays, LB_AT(i)))));
	}
	return lb_astype(lb_take(order, lb_slice(onnx_places(stays), LB_TO(most)), 0), LB_I64);
}

static lb_tensor *non_max_suppression(struct onnx_call *c)
{
	int64_t most[ONNX_MOST_VALUES];
	lb_tensor *boxes = c->in[0], *scores = c->in[1], *found[ONNX_MOST_VALUES];
	lb_list limit = onnx_values(c, 2, most);
	double covered = c->in[3] ? lb_item(c->in[3]) : 0;
	lb_tensor *least = c->in[4] ? lb_reshape(c->in[4], LB_SHAPE()) : NULL;
	bool centred = onnx_int(c, "center_point_box", 0);
	int64_t classes = lb_dim(scores, 1), n = lb_dim(scores, 0) * classes;
	if (n > ONNX_MOST_VALUES)
		return onnx_refuse(c, "%jd classes", (intmax_t)n);
	for (int64_t i = 0; i < n; i++) {
		int64_t batch = i / classes, of = i % classes;
		lb_tensor *kept = best_boxes(lb_slice(boxes, LB_AT(batch)), lb_slice(scores, LB_AT(batch), LB_AT(of)),
					     limit.n > 0 ? most[0] : 0, covered, least, centred);
		lb_tensor *zero = lb_zeros_like(kept);
		lb_tensor *columns[] = { lb_add(zero, lb_scalar_int(batch)), lb_add(zero, lb_scalar_int(of)), kept };
		found[i] = lb_stack(3, columns, 1);
	}
	return lb_concatenate((int)n, found, 0);
}

const struct onnx_op onnx_values_ops[] = {
	{ "Compress", .run = compress },
	{ "NonMaxSuppression", .run = non_max_suppression },
	{ "NonZero", .run = non_zero },
	{ "Unique", .run = unique },
	{ .name = NULL },
};
