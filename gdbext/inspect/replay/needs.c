#include "inspect/replay/needs.h"

#include <string.h>

#include "base/op.h"
#include "ops/conv.h"
#include "kernels/fold.h"
#include "kernels/softmax.h"

int lbx_op_number(const struct lbx_tensor *t)
{
	return lb_op_by_name(t->op);
}

static const struct lbx_tensor *input_of(const struct lbx_graph *g, uint32_t node, uint32_t i)
{
	return &g->nodes[g->inputs[g->nodes[node].first_input + i]].tensor;
}

static bool same_axes(const struct lbx_tensor *a, int from, const struct lbx_tensor *b, int n)
{
	for (int i = from; i < n; i++)
		if (lbx_shape(a)[i] != lbx_shape(b)[i])
			return false;
	return true;
}

static void widen_axis(struct lbx_region *r, int axis, int64_t size)
{
	r->first[axis] = 0;
	r->count[axis] = size;
	r->step[axis] = 1;
}

/* ---- elementwise ---- */

static bool broadcasts(const struct lbx_graph *g, uint32_t node, bool joined)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor;
	bool seen[LB_MAX_RANK] = { false };

	for (uint32_t k = 0; k < t->n_inputs; k++) {
		const struct lbx_tensor *x = input_of(g, node, k);
		if (x->rank > t->rank)
			return false;
		for (int i = 0; i < x->rank; i++) {
			int axis = t->rank - x->rank + i;
			if (lbx_shape(x)[i] != lbx_shape(t)[axis] && lbx_shape(x)[i] != 1)
				return false;
			seen[axis] |= lbx_shape(x)[i] == lbx_shape(t)[axis];
		}
	}
	/* an axis that no input has comes from a program's constant */
	for (int i = 0; joined && i < t->rank; i++)
		if (!seen[i] && lbx_shape(t)[i] != 1)
			return false;
	return true;
}

/* Of x, right-aligned to the region of rank `rank`. */
static void repeat_to(const struct lbx_tensor *x, const struct lbx_region *region, int rank, struct lbx_region *ret)
{
	lbx_region_all(x->rank, lbx_shape(x), ret);
	for (int i = 0; i < x->rank; i++) {
		int axis = rank - x->rank + i;
		if (lbx_shape(x)[i] == 1)
			continue;
		ret->first[i] = region->first[axis];
		ret->count[i] = region->count[axis];
		ret->step[i] = region->step[axis];
	}
}

/* ---- reductions ---- */

static bool is_row_major(const struct lbx_tensor *t)
{
	int64_t expected = 1;

	for (int i = t->rank; i-- > 0;) {
		if (lbx_shape(t)[i] != 1 && lbx_strides(t)[i] != expected)
			return false;
		expected *= lbx_shape(t)[i];
	}
	return true;
}

static bool is_whole_number(enum lb_dtype dtype)
{
	return dtype < LB_F16;
}

static uint32_t reduced_axes(int op, const struct lbx_tensor *t, const struct lbx_tensor *x)
{
	uint32_t all = (1u << x->rank) - 1;

	if (op == LB_OP_ARGMAX || op == LB_OP_ARGMIN)
		return t->params[0] < 0 ? all : t->params[0] < x->rank ? 1u << t->params[0] : UINT32_MAX;
	return (uint32_t)t->params[0];
}

/* Whether each output depends on its own elements alone, folded in any order, or in one that does not depend on
 * how many outputs there are. */
static bool folds_apart(int op, const struct lbx_tensor *x, uint32_t mask)
{
	int first = x->rank;
	int64_t n = 1;

	if (x->size == 0)
		return true;
	switch (op) {
	case LB_OP_ALL:
	case LB_OP_ANY:
	case LB_OP_ARGMAX:
	case LB_OP_ARGMIN: return true;
	case LB_OP_SUM:
	case LB_OP_PROD:
	case LB_OP_MAX:
	case LB_OP_MIN:
		if (is_whole_number(x->dtype))
			return true;
	}
	while (first > 0 && mask >> (first - 1) & 1)
		n *= lbx_shape(x)[--first];
	bool trailing = mask && mask == ((1u << x->rank) - 1) - ((1u << first) - 1);
	if (!is_row_major(x))
		return false;
	return lb_folds_rows(trailing, n) || (op == LB_OP_SOFTMAX && trailing && n <= LB_SOFTMAX_ROW);
}

static bool reduces(int op, const struct lbx_tensor *t, const struct lbx_tensor *x, struct lbx_region *region)
{
	uint32_t mask = reduced_axes(op, t, x);
	bool keeps = op == LB_OP_SOFTMAX || t->params[1];
	int axis = 0;

	if (mask >> x->rank)
		return false;
	for (int i = 0; i < x->rank; i++) {
		bool reduced = mask >> i & 1;
		if (reduced && !keeps)
			continue;
		int64_t size = reduced && op != LB_OP_SOFTMAX ? 1 : lbx_shape(x)[i];
		if (axis == t->rank || lbx_shape(t)[axis] != size)
			return false;
		if (reduced)
			widen_axis(region, axis, size);
		axis++;
	}
	return axis == t->rank;
}

static void need_reduced(int op, const struct lbx_tensor *t, const struct lbx_tensor *x,
			 const struct lbx_region *region, struct lbx_region *ret)
{
	uint32_t mask = reduced_axes(op, t, x);
	bool keeps = op == LB_OP_SOFTMAX || t->params[1];
	int axis = 0;

	lbx_region_all(x->rank, lbx_shape(x), ret);
	for (int i = 0; i < x->rank; i++) {
		bool reduced = mask >> i & 1;
		if (!reduced) {
			ret->first[i] = region->first[axis];
			ret->count[i] = region->count[axis];
			ret->step[i] = region->step[axis];
		}
		axis += !reduced || keeps;
	}
}

/* ---- along rows and lines ---- */

/* Inputs that have the result's axes but for the last; others are needed whole. */
static bool has_rows(int op, const struct lbx_tensor *t, uint32_t i)
{
	return i == 0 || (op == LB_OP_DEQUANTIZE && (i == 1 || t->params[0] == LB_QUANT_AFFINE));
}

static bool runs_rows(int op, const struct lbx_graph *g, uint32_t node, struct lbx_region *region)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor;
	int last = t->rank - 1;

	if (last < (op == LB_OP_ROPE) || t->n_inputs == 0)
		return false;
	for (uint32_t i = 0; i < t->n_inputs; i++)
		if (has_rows(op, t, i) &&
		    (input_of(g, node, i)->rank != t->rank || !same_axes(input_of(g, node, i), 0, t, last)))
			return false;
	if (op == LB_OP_ROPE) /* positions follow one another */
		lbx_region_fill(region, last - 1);
	if (op == LB_OP_ROPE && (t->params[3] > INT64_MAX / 4 || t->params[3] < -INT64_MAX / 4))
		return false;
	widen_axis(region, last, lbx_shape(t)[last]);
	return true;
}

/* The axis of parameter 0, as the runtime stores it: counted from the front. */
static bool runs_lines(int op, const struct lbx_graph *g, uint32_t node, struct lbx_region *region)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor;
	int64_t axis = t->params[0];

	if (axis < 0 || axis >= t->rank || t->n_inputs == 0)
		return false;
	for (uint32_t k = 0; k < t->n_inputs; k++) {
		const struct lbx_tensor *x = input_of(g, node, k);
		if (x->rank != t->rank)
			return false;
		for (int i = 0; i < t->rank; i++)
			if (i != axis && lbx_shape(x)[i] != lbx_shape(t)[i] &&
			    (op != LB_OP_TAKE_ALONG || lbx_shape(x)[i] != 1))
				return false;
	}
	if (op != LB_OP_TAKE_ALONG)
		widen_axis(region, (int)axis, lbx_shape(t)[axis]);
	else if (t->n_inputs != 2 || lbx_shape(input_of(g, node, 1))[axis] != lbx_shape(t)[axis])
		return false;
	return true;
}

static void need_line(const struct lbx_tensor *t, const struct lbx_tensor *x, bool whole_line,
		      const struct lbx_region *region, struct lbx_region *ret)
{
	repeat_to(x, region, t->rank, ret);
	if (whole_line)
		widen_axis(ret, (int)t->params[0], lbx_shape(x)[t->params[0]]);
}

/* ---- parts side by side ---- */

static bool joins(const struct lbx_graph *g, uint32_t node)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor;
	int64_t axis = t->params[0], total = 0;

	if (axis < 0 || axis >= t->rank)
		return false;
	for (uint32_t k = 0; k < t->n_inputs; k++) {
		const struct lbx_tensor *x = input_of(g, node, k);
		if (x->rank != t->rank || !lb_sum_of(total, lbx_shape(x)[axis], &total))
			return false;
		for (int i = 0; i < t->rank; i++)
			if (i != axis && lbx_shape(x)[i] != lbx_shape(t)[i])
				return false;
	}
	return total == lbx_shape(t)[axis];
}

/* Those of first, first + step, … that are in [from, from + n): how many, and which is the first. */
static int64_t inside(const struct lbx_region *region, int axis, int64_t from, int64_t n, int64_t *first)
{
	int64_t step = region->step[axis], start = region->first[axis];
	int64_t before = from > start ? (from - start + step - 1) / step : 0;
	int64_t end = from + n > start ? (from + n - start + step - 1) / step : 0;

	if (end > region->count[axis])
		end = region->count[axis];
	*first = start + before * step;
	return end > before ? end - before : 0;
}

static void need_joined(const struct lbx_tensor *t, const struct lbx_tensor *x, const struct lbx_region *region,
			int64_t *at, struct lbx_need *ret)
{
	int axis = (int)t->params[0];
	int64_t first, n = lbx_shape(x)[axis], count = inside(region, axis, *at, n, &first);

	ret->region = *region;
	ret->region.first[axis] = first - *at;
	ret->region.count[axis] = count;
	ret->nothing = count == 0;
	*at += n;
}

static bool pads(const struct lbx_graph *g, uint32_t node)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor;

	if (t->n_inputs != 2 || t->rank > 2 * LB_PARAMS || input_of(g, node, 0)->rank != t->rank ||
	    input_of(g, node, 1)->rank != 0 || input_of(g, node, 1)->dtype != t->dtype)
		return false;
	const struct lbx_tensor *x = input_of(g, node, 0);
	for (int i = 0; i < t->rank; i++) {
		int64_t low = lb_conv_param(t->params[i / 2], i % 2);
		if (low > lbx_shape(t)[i] || lbx_shape(x)[i] > lbx_shape(t)[i] - low)
			return false;
	}
	return true;
}

static void need_padded(const struct lbx_tensor *t, const struct lbx_tensor *x, const struct lbx_region *region,
			struct lbx_need *ret)
{
	ret->region = *region;
	for (int i = 0; i < t->rank; i++) {
		int64_t low = lb_conv_param(t->params[i / 2], i % 2), first;
		ret->region.count[i] = inside(region, i, low, lbx_shape(x)[i], &first);
		ret->region.first[i] = first - low;
		ret->nothing |= ret->region.count[i] == 0;
	}
}

/* ---- what is taken by index ---- */

/* The result's axes: x's before the axis, those of the indices, x's after it. */
static bool takes(const struct lbx_graph *g, uint32_t node)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor;
	int64_t axis = t->params[0];

	if (t->n_inputs != 2)
		return false;
	const struct lbx_tensor *x = input_of(g, node, 0), *indices = input_of(g, node, 1);
	if (axis < 0 || axis >= x->rank || x->rank - 1 + indices->rank != t->rank)
		return false;
	for (int i = 0; i < t->rank; i++) {
		bool taken = i >= axis && i < axis + indices->rank;
		int64_t size = taken      ? lbx_shape(indices)[i - axis]
			       : i < axis ? lbx_shape(x)[i]
					  : lbx_shape(x)[i - indices->rank + 1];
		if (lbx_shape(t)[i] != size)
			return false;
	}
	return true;
}

static void need_taken(const struct lbx_graph *g, uint32_t node, uint32_t k, const struct lbx_region *region,
		       struct lbx_region *ret)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor, *x = input_of(g, node, k);
	int axis = (int)t->params[0], taken = input_of(g, node, 1)->rank;

	lbx_region_all(x->rank, lbx_shape(x), ret);
	for (int i = 0; i < x->rank; i++) {
		int from = k == 1 ? axis + i : i < axis ? i : i + taken - 1;
		if (k == 0 && i == axis)
			continue;
		ret->first[i] = region->first[from];
		ret->count[i] = region->count[from];
		ret->step[i] = region->step[from];
	}
}

/* ---- products ---- */

/* Right-aligned in the result's batch axes, of which there are `batch`. */
static bool repeats_batch(const struct lbx_tensor *t, int batch, const struct lbx_tensor *x)
{
	int own = x->rank > 2 ? x->rank - 2 : 0;

	for (int i = 0; i < own; i++)
		if (own > batch || (lbx_shape(x)[i] != 1 && lbx_shape(x)[i] != lbx_shape(t)[batch - own + i]))
			return false;
	return true;
}

static int batch_axes(const struct lbx_graph *g, uint32_t node)
{
	return g->nodes[node].tensor.rank - (input_of(g, node, 0)->rank > 1) - (input_of(g, node, 1)->rank > 1);
}

/* Inputs: x, and a quantised matrix: its words, scales, and biases or one global scale. A row of
 * groups becomes a column if it is multiplied as its transpose. */
static bool multiplies_quantised(const struct lbx_graph *g, uint32_t node)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor;
	int64_t group = t->params[2], groups, inner;

	if (t->n_inputs < 3 || t->n_inputs > 4)
		return false;
	const struct lbx_tensor *x = input_of(g, node, 0), *w = input_of(g, node, 1), *scales = input_of(g, node, 2);
	int batch = t->rank - 1 - (x->rank > 1);
	if (x->rank == 0 || w->rank < 2 || batch < 0 || group < 1 || t->rank == 0)
		return false;
	groups = scales->rank ? lbx_shape(scales)[scales->rank - 1] : 0;
	if (groups > INT64_MAX / group)
		return false;
	inner = t->params[3] & LB_QUANT_TRANSPOSED ? lbx_shape(x)[x->rank - 1] : lbx_shape(t)[t->rank - 1];
	if (inner != groups * group ||
	    lbx_shape(w)[w->rank - 2] !=
		(t->params[3] & LB_QUANT_TRANSPOSED ? lbx_shape(t)[t->rank - 1] : lbx_shape(x)[x->rank - 1]) ||
	    (x->rank > 1 && lbx_shape(x)[x->rank - 2] != lbx_shape(t)[batch]) || !repeats_batch(t, batch, x) ||
	    !repeats_batch(t, batch, w))
		return false;
	for (uint32_t k = 2; k < t->n_inputs; k++) {
		const struct lbx_tensor *y = input_of(g, node, k);
		bool global = k == 3 && t->params[0] != LB_QUANT_AFFINE;
		if (global
			? y->size != 1
			: y->rank != w->rank || !same_axes(y, 0, w, w->rank - 1) || lbx_shape(y)[y->rank - 1] != groups)
			return false;
	}
	return true;
}

static bool multiplies(const struct lbx_graph *g, uint32_t node, int op)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor;

	if (op == LB_OP_QUANTIZED_MATMUL)
		return multiplies_quantised(g, node);
	if (t->n_inputs != (op == LB_OP_ADDMM ? 3 : 2))
		return false;
	const struct lbx_tensor *a = input_of(g, node, 0), *b = input_of(g, node, 1);
	int batch = batch_axes(g, node);
	if (a->rank == 0 || b->rank == 0 || batch < 0 ||
	    lbx_shape(a)[a->rank - 1] != lbx_shape(b)[b->rank > 1 ? b->rank - 2 : 0] ||
	    (a->rank > 1 && lbx_shape(a)[a->rank - 2] != lbx_shape(t)[batch]) ||
	    (b->rank > 1 && lbx_shape(b)[b->rank - 1] != lbx_shape(t)[t->rank - 1]) || !repeats_batch(t, batch, a) ||
	    !repeats_batch(t, batch, b))
		return false;
	if (op != LB_OP_ADDMM)
		return true;
	const struct lbx_tensor *c = input_of(g, node, 2);
	for (int i = 1; i <= c->rank; i++)
		if (i > t->rank ||
		    (lbx_shape(c)[c->rank - i] != 1 && lbx_shape(c)[c->rank - i] != lbx_shape(t)[t->rank - i]))
			return false;
	return true;
}

static void take_axis(struct lbx_region *to, int axis, const struct lbx_region *from, int from_axis)
{
	to->first[axis] = from->first[from_axis];
	to->count[axis] = from->count[from_axis];
	to->step[axis] = from->step[from_axis];
}

static void need_product(const struct lbx_graph *g, uint32_t node, uint32_t k, const struct lbx_region *region,
			 struct lbx_region *ret)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor, *x = input_of(g, node, k);
	int batch = batch_axes(g, node), own = x->rank > 2 ? x->rank - 2 : 0;

	if (k == 2) {
		repeat_to(x, region, t->rank, ret);
		return;
	}
	lbx_region_all(x->rank, lbx_shape(x), ret);
	for (int i = 0; i < own; i++)
		if (lbx_shape(x)[i] != 1)
			take_axis(ret, i, region, batch - own + i);
	if (x->rank > 1)
		take_axis(ret, k == 0 ? x->rank - 2 : x->rank - 1, region, k == 0 ? batch : t->rank - 1);
}

static void need_quantised(const struct lbx_graph *g, uint32_t node, uint32_t k, const struct lbx_region *region,
			   struct lbx_region *ret)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor, *x = input_of(g, node, k);
	bool has_rows = input_of(g, node, 0)->rank > 1;
	int batch = t->rank - 1 - has_rows, own = x->rank > 2 ? x->rank - 2 : 0, last = t->rank - 1;

	lbx_region_all(x->rank, lbx_shape(x), ret);
	if (k == 3 && t->params[0] != LB_QUANT_AFFINE)
		return;
	for (int i = 0; i < own; i++)
		if (lbx_shape(x)[i] != 1)
			take_axis(ret, i, region, batch - own + i);
	if (k == 0 && has_rows)
		take_axis(ret, x->rank - 2, region, batch);
	else if (k && t->params[3] & LB_QUANT_TRANSPOSED)
		take_axis(ret, x->rank - 2, region, last);
	else if (k > 1) { /* one for each group of columns */
		int64_t from = region->first[last] / t->params[2];
		int64_t to = (region->first[last] + (region->count[last] - 1) * region->step[last]) / t->params[2];
		ret->first[x->rank - 1] = from;
		ret->count[x->rank - 1] = to - from + 1;
	}
}

/* ---- all of them ---- */

static bool made_from_index(int op, const struct lbx_tensor *t, struct lbx_region *region)
{
	if (t->n_inputs || (op == LB_OP_ARANGE && t->rank != 1) || (op == LB_OP_EYE && t->rank != 2))
		return false;
	if (op == LB_OP_EYE && (t->params[0] > INT64_MAX / 4 || t->params[0] < -INT64_MAX / 4))
		return false;
	for (int i = 0; i < t->rank && op == LB_OP_EYE; i++)
		lbx_region_fill(region, i);
	return true;
}

bool lbx_comes_from_part(const struct lbx_graph *g, uint32_t node, int op, struct lbx_region *region)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor;

	/* by index, or along rows, nothing can be taken from nothing */
	bool may_be_empty = lb_op_needs[op] == LB_NEEDS_AXES || lb_op_needs[op] == LB_NEEDS_PART;
	for (uint32_t i = 0; i < t->n_inputs && !may_be_empty; i++)
		if (input_of(g, node, i)->size == 0)
			return false;
	switch ((enum lb_op_needs)lb_op_needs[op]) {
	case LB_NEEDS_SAME: return t->n_inputs > 0 && broadcasts(g, node, op != LB_OP_FUSED);
	case LB_NEEDS_INDEX: return made_from_index(op, t, region);
	case LB_NEEDS_AXES: return t->n_inputs == 1 && reduces(op, t, input_of(g, node, 0), region);
	case LB_NEEDS_ROW: return runs_rows(op, g, node, region);
	case LB_NEEDS_LINE: return runs_lines(op, g, node, region);
	case LB_NEEDS_PART: return op == LB_OP_PAD ? pads(g, node) : joins(g, node);
	case LB_NEEDS_TAKEN: return takes(g, node);
	case LB_NEEDS_PRODUCT: return multiplies(g, node, op);
	case LB_NEEDS_ALL:
	case LB_NEEDS_PLACE: break;
	}
	return false;
}

bool lbx_needs_part(const struct lbx_graph *g, uint32_t node, int op, struct lbx_region *region)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor;

	if (!lbx_comes_from_part(g, node, op, region))
		return false;
	switch ((enum lb_op_needs)lb_op_needs[op]) {
	case LB_NEEDS_AXES: return folds_apart(op, input_of(g, node, 0), reduced_axes(op, t, input_of(g, node, 0)));
	case LB_NEEDS_PRODUCT: return op == LB_OP_MATMUL_IN_STEPS;
	default: return true;
	}
}

void lbx_need_of(const struct lbx_graph *g, uint32_t node, int op, uint32_t i, const struct lbx_region *region,
		 int64_t *at, struct lbx_need *ret)
{
	const struct lbx_tensor *t = &g->nodes[node].tensor, *x = input_of(g, node, i);

	*ret = (struct lbx_need){ .all = false };
	switch ((enum lb_op_needs)lb_op_needs[op]) {
	case LB_NEEDS_AXES:
		ret->dense = true;
		need_reduced(op, t, x, region, &ret->region);
		break;
	case LB_NEEDS_ROW:
		ret->dense = op == LB_OP_DECODE;
		lbx_region_all(x->rank, lbx_shape(x), &ret->region);
		if (!has_rows(op, t, i))
			break;
		ret->region = *region;
		widen_axis(&ret->region, x->rank - 1, lbx_shape(x)[x->rank - 1]);
		break;
	case LB_NEEDS_LINE: need_line(t, x, i == 0, region, &ret->region); break;
	case LB_NEEDS_PART:
		if (op == LB_OP_CONCATENATE)
			need_joined(t, x, region, at, ret);
		else if (i == 0)
			need_padded(t, x, region, ret);
		break;
	case LB_NEEDS_TAKEN: need_taken(g, node, i, region, &ret->region); break;
	case LB_NEEDS_PRODUCT:
		(op == LB_OP_QUANTIZED_MATMUL ? need_quantised : need_product)(g, node, i, region, &ret->region);
		break;
	default: repeat_to(x, region, t->rank, &ret->region); break;
	}
}

void lbx_narrow_params(const struct lbx_tensor *t, int op, const struct lbx_region *region, int64_t params[LB_PARAMS])
{
	memcpy(params, t->params, sizeof t->params);
	switch (op) {
	case LB_OP_EYE: params[0] += region->first[0] - region->first[1]; break;
	case LB_OP_ROPE: params[3] += region->first[t->rank - 2]; break;
	case LB_OP_PAD:
		memset(params, 0, sizeof t->params);
		for (int i = 0; i < t->rank; i++) {
			int64_t low = lb_conv_param(t->params[i / 2], i % 2), first;
			int64_t before = inside(region, i, 0, low, &first);
			params[i / 2] |= i % 2 ? lb_conv_pair(0, before) : lb_conv_pair(before, 0);
		}
		break;
	}
}
