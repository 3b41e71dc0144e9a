#include "graph/shape.h"
#include "base/plural.h"
#include "ops/view.h"

static bool cut_range(const char *op, struct lb_cut *cut, const lb_index *index, const struct lb_tensor *x, int axis)
{
	int64_t size = x->shape[axis], stride = x->strides[axis];
	int64_t step = index->step, start = index->start, stop = index->stop;
	if (step == 0)
		return lb_fail("%s: the step must not be 0", op);
	/* LB_END, and out of range, clamp to one past the last in the step's direction */
	int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
	if (start == LB_END)
		start = highest;
	else if (start < 0)
		start = start + size < lowest ? lowest : start + size;
	else if (start > highest)
		start = highest;
	if (stop == LB_END)
		stop = step > 0 ? highest : lowest;
	else if (stop < 0)
		stop = stop + size < lowest ? lowest : stop + size;
	else if (stop > highest)
		stop = highest;
	int64_t n = 0;
	if (step > 0 && start < stop)
		n = (stop - start - 1) / step + 1;
	else if (step < 0 && start > stop)
		n = (int64_t)((uint64_t)(start - stop - 1) / -(uint64_t)step) + 1;
	cut->first[axis] = n ? start : 0;
	cut->counts[axis] = n;
	/* with at most one element the step is not taken, and its product might not fit */
	cut->steps[axis] = n > 1 ? step : 1;
	cut->offset += cut->first[axis] * stride;
	cut->shape[cut->rank] = n;
	cut->strides[cut->rank++] = stride * cut->steps[axis];
	return true;
}

static void cut_whole(struct lb_cut *cut, const struct lb_tensor *x, int axis)
{
	cut->first[axis] = 0;
	cut->steps[axis] = 1;
	cut->counts[axis] = x->shape[axis];
	cut->shape[cut->rank] = x->shape[axis];
	cut->strides[cut->rank++] = x->strides[axis];
}

static bool cut_one(const char *op, struct lb_cut *cut, const struct lb_tensor *x, int axis, int64_t i)
{
	int64_t size = x->shape[axis];
	if (i < -size || i >= size) {
		char text[LB_SHAPE_TEXT];
		return lb_fail("%s: index %lld is out of range for axis %d of %s", op, (long long)i, axis,
			       lb_shape_text(x->rank, x->shape, text));
	}
	cut->first[axis] = i < 0 ? i + size : i;
	cut->steps[axis] = cut->counts[axis] = 1;
	cut->offset += cut->first[axis] * x->strides[axis];
	return true;
}

bool lb_cut_out(const char *op, const struct lb_tensor *x, int n, const lb_index *index, struct lb_cut *ret)
{
	if (n < 0)
		return lb_fail("%s: a list of %d indices", op, n);
	if (!LB_GIVEN_LIST(op, n, index))
		return false;
	int used = 0, added = 0, dropped = 0, rests = 0;
	for (int i = 0; i < n; i++) {
		used += index[i].kind == LB_INDEX_RANGE || index[i].kind == LB_INDEX_AT;
		dropped += index[i].kind == LB_INDEX_AT;
		added += index[i].kind == LB_INDEX_NEW_AXIS;
		rests += index[i].kind == LB_INDEX_ELLIPSIS;
	}
	if (rests > 1)
		return lb_fail(
		    "%s: LB_REST is there %d time%s; it may be there once, for all axes that the other indices leave",
		    op, rests, LB_S(rests));
	if (used > x->rank || rests > 1 || x->rank + added - dropped > LB_MAX_RANK) {
		char text[LB_SHAPE_TEXT];
		return lb_fail("%s: %d indices and %d LB_REST do not fit %s", op, used, rests,
			       lb_shape_text(x->rank, x->shape, text));
	}
	*ret = (struct lb_cut){ 0 };
	int axis = 0;
	for (int i = 0; i < n; i++) {
		switch (index[i].kind) {
		case LB_INDEX_RANGE:
			if (!cut_range(op, ret, &index[i], x, axis++))
				return false;
			break;
		case LB_INDEX_AT:
			if (!cut_one(op, ret, x, axis, index[i].start))
				return false;
			axis++;
			break;
		case LB_INDEX_ELLIPSIS:
			for (int rest = x->rank - used; rest > 0; rest--)
				cut_whole(ret, x, axis++);
			break;
		case LB_INDEX_NEW_AXIS:
			ret->shape[ret->rank] = 1;
			ret->strides[ret->rank++] = 1;
			break;
		default: return lb_fail("%s: index %d is not one of LB_RANGE, LB_AT, LB_REST, LB_NEW_AXIS", op, i);
		}
	}
	while (axis < x->rank)
		cut_whole(ret, x, axis++);
	return true;
}

lb_tensor *lb_slice_n(lb_tensor *x, int n, const lb_index *index)
{
	LB_ENTER();
	struct lb_cut cut;
	if (!LB_GIVEN("slice", x) || !lb_cut_out("slice", x, n, index, &cut))
		return NULL;
	return lb_view_node(LB_OP_SLICE, x, cut.rank, cut.shape, cut.strides, cut.offset, site);
}
