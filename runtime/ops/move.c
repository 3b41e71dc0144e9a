/* Elements in other places, and more than once: made of views, and of joins of these. */
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/view.h"

lb_tensor *lb_swapaxes(lb_tensor *x, int axis_1, int axis_2)
{
	LB_ENTER_WHOLE();
	int a, b;
	if (!LB_GIVEN("swapaxes", x) || !lb_axis("swapaxes", axis_1, lb_shape_of(x), 0, &a) ||
	    !lb_axis("swapaxes", axis_2, lb_shape_of(x), 0, &b))
		return NULL;
	int64_t order[LB_MAX_RANK];
	for (int i = 0; i < x->rank; i++)
		order[i] = i == a ? b : i == b ? a : i;
	return lb_transpose(x, (lb_list){ x->rank, order });
}

lb_tensor *lb_moveaxis(lb_tensor *x, int from, int to)
{
	LB_ENTER_WHOLE();
	int a, b;
	if (!LB_GIVEN("moveaxis", x) || !lb_axis("moveaxis", from, lb_shape_of(x), 0, &a) ||
	    !lb_axis("moveaxis", to, lb_shape_of(x), 0, &b))
		return NULL;
	int64_t order[LB_MAX_RANK];
	for (int i = 0, rest = 0; i < x->rank; i++) {
		rest += rest == a;
		order[i] = i == b ? a : rest++;
	}
	return lb_transpose(x, (lb_list){ x->rank, order });
}

lb_tensor *lb_unflatten(lb_tensor *x, int axis, lb_list shape)
{
	LB_ENTER_WHOLE();
	int at;
	char text[LB_SHAPE_TEXT], to_text[LB_SHAPE_TEXT];
	if (!LB_GIVEN("unflatten", x) || !lb_axis("unflatten", axis, lb_shape_of(x), 0, &at))
		return NULL;
	if (shape.n < 1 || !shape.v || shape.n > LB_MAX_RANK + 1 - x->rank) {
		lb_fail("unflatten: %d %s for axis %d of %s; a tensor has at most %d", shape.n,
			LB_PLURAL(shape.n, "axis", "axes"), at, lb_shape_text(x->rank, x->shape, text), LB_MAX_RANK);
		return NULL;
	}
	int64_t to[LB_MAX_RANK], known = 1;
	int unknown = -1;
	bool fits = true;
	memcpy(to, x->shape, (size_t)at * sizeof *to);
	for (int i = 0; i < shape.n; i++) {
		to[at + i] = shape.v[i];
		if (shape.v[i] == -1 && unknown < 0)
			unknown = at + i;
		else
			fits = fits && shape.v[i] >= 0 && lb_mul(known, shape.v[i], &known);
	}
	if (fits && unknown >= 0) {
		fits = known > 0 && x->shape[at] % known == 0;
		to[unknown] = fits ? x->shape[at] / known : 0;
	} else {
		fits = fits && known == x->shape[at];
	}
	if (!fits) {
		lb_fail("unflatten: axis %d of %s does not make %s", at, lb_shape_text(x->rank, x->shape, text),
			lb_shape_text(shape.n, shape.v, to_text));
		return NULL;
	}
	memcpy(to + at + shape.n, x->shape + at + 1, (size_t)(x->rank - at - 1) * sizeof *to);
	return lb_reshape(x, (lb_list){ x->rank + shape.n - 1, to });
}

/* ---- elements that come more than once ---- */

/* What lies behind each place of the axes before `axis`, that often, one after the other; axis `grown` has it all. */
static struct lb_tensor *in_copies(const char *name, struct lb_tensor *x, int axis, int grown, int64_t times)
{
	int64_t shape[LB_MAX_RANK], size, outer = 1, inner = 1;
	char text[LB_SHAPE_TEXT];
	memcpy(shape, x->shape, sizeof shape);
	for (int i = 0; i < x->rank; i++)
		*(i < axis ? &outer : &inner) *= x->shape[i];
	if (times < 0 || !lb_mul(shape[grown], times, &shape[grown]) ||
	    !lb_check_shape(name, x->rank, shape, (enum lb_dtype)x->dtype, &size)) {
		lb_fail("%s: %s cannot be there %lld times", name, lb_shape_text(x->rank, x->shape, text),
			(long long)times);
		return NULL;
	}
	struct lb_tensor *y = lb_reshape(x, LB_SHAPE(outer, 1, inner));
	y = y ? lb_broadcast_to(y, LB_SHAPE(outer, times, inner)) : NULL;
	return y ? lb_reshape(y, (lb_list){ x->rank, shape }) : NULL;
}

lb_tensor *lb_repeat(lb_tensor *x, int64_t times, int axis)
{
	LB_ENTER_WHOLE();
	int at;
	if (!LB_GIVEN("repeat", x) || !lb_axis("repeat", axis, lb_shape_of(x), 0, &at))
		return NULL;
	return in_copies("repeat", x, at + 1, at, times);
}

lb_tensor *lb_tile(lb_tensor *x, lb_list times)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("tile", x))
		return NULL;
	if (times.n < 0 || times.n > LB_MAX_RANK || (times.n && !times.v)) {
		lb_fail("tile: a list of %d numbers at %p; a tensor has at most %d axes", times.n,
			(const void *)times.v, LB_MAX_RANK);
		return NULL;
	}
	for (int i = 0; i < times.n; i++) {
		char text[LB_SHAPE_TEXT];
		if (times.v[i] < 0) {
			lb_fail("tile: %s cannot be there %lld times", lb_shape_text(x->rank, x->shape, text),
				(long long)times.v[i]);
			return NULL;
		}
	}
	int rank = x->rank > times.n ? x->rank : times.n, added = rank - x->rank;
	int64_t shape[LB_MAX_RANK];
	for (int i = 0; i < rank; i++)
		shape[i] = i < added ? 1 : x->shape[i - added];
	struct lb_tensor *y = added ? lb_reshape(x, (lb_list){ rank, shape }) : x;
	for (int i = rank - times.n, k = 0; y && k < times.n; i++, k++) {
		if (times.v[k] != 1)
			y = in_copies("tile", y, i, i, times.v[k]);
	}
	return y == x ? lb_untouched(x, lb_fail_site_now()) : y;
}

bool lb_meshgrid(int n, lb_tensor *const *xs, bool by_rows, bool sparse, lb_tensor **out)
{
	LB_ENTER_WHOLE();
	if (n < 1 || n > LB_MAX_RANK)
		return lb_fail("meshgrid: of 1 to %d tensors, not of %d", LB_MAX_RANK, n);
	if (!LB_GIVEN("meshgrid", out))
		return false;
	memset(out, 0, (size_t)n * sizeof *out);
	if (!LB_GIVEN("meshgrid", xs))
		return false;
	int64_t shape[LB_MAX_RANK];
	for (int i = 0; i < n; i++) {
		if (!xs[i])
			return lb_fail_null_at("meshgrid", i, n);
		if (xs[i]->rank > 1)
			return lb_fail("meshgrid: tensor %d has %d axes; it takes lines", i, xs[i]->rank);
		/* by columns the first two change places */
		int axis = by_rows || n < 2 || i > 1 ? i : 1 - i;
		shape[axis] = xs[i]->size;
	}
	struct lb_tensor *made[LB_MAX_RANK];
	for (int i = 0; i < n; i++) {
		int axis = by_rows || n < 2 || i > 1 ? i : 1 - i;
		int64_t own[LB_MAX_RANK];
		for (int k = 0; k < n; k++)
			own[k] = k == axis ? xs[i]->size : 1;
		made[i] = lb_reshape(xs[i], (lb_list){ n, own });
		if (made[i] && !sparse)
			made[i] = lb_broadcast_to(made[i], (lb_list){ n, shape });
		if (!made[i])
			return false;
	}
	memcpy(out, made, (size_t)n * sizeof *out);
	return true;
}

/* ---- parts, and joins of them ---- */

/* Elements first … last - 1 along the axis. */
static struct lb_tensor *part(struct lb_tensor *x, int axis, int64_t first, int64_t last)
{
	lb_index index[LB_MAX_RANK];
	for (int i = 0; i < axis; i++)
		index[i] = LB_ALL;
	index[axis] = LB_RANGE(first, last);
	return lb_slice_n(x, axis + 1, index);
}

bool lb_split_at(lb_tensor *x, lb_list at, int axis, lb_tensor **parts)
{
	LB_ENTER_WHOLE();
	int along;
	if (!LB_GIVEN("split_at", parts))
		return false;
	if (at.n < 0 || (at.n && !at.v))
		return lb_fail("split_at: a list of %d indices at %p", at.n, (const void *)at.v);
	memset(parts, 0, ((size_t)at.n + 1) * sizeof *parts);
	if (!LB_GIVEN("split_at", x) || !lb_axis("split_at", axis, lb_shape_of(x), 0, &along))
		return false;
	for (int i = 0; i <= at.n; i++) {
		parts[i] = part(x, along, i ? at.v[i - 1] : 0, i < at.n ? at.v[i] : LB_END);
		if (!parts[i]) {
			memset(parts, 0, ((size_t)at.n + 1) * sizeof *parts);
			return false;
		}
	}
	return true;
}

static struct lb_tensor *rolled(struct lb_tensor *x, int axis, int64_t by)
{
	int64_t n = x->shape[axis], first;
	if (n == 0 || by % n == 0)
		return x;
	first = by % n < 0 ? -(by % n) : n - by % n; /* the one that comes first then */
	return lb_concatenate(2, (struct lb_tensor *[]){ part(x, axis, first, n), part(x, axis, 0, first) }, axis);
}

lb_tensor *lb_roll(lb_tensor *x, lb_list by, lb_list axes)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("roll", x))
		return NULL;
	if (by.n < (axes.n != 0) || (by.n > 0 && !by.v) || (axes.n >= 0 && by.n != 1 && by.n != axes.n) ||
	    (axes.n > 0 && !axes.v)) {
		lb_fail("roll: %d distances for %d axes: there is one for all, or one for each", by.n, axes.n);
		return NULL;
	}
	struct lb_tensor *y = x;
	if (axes.n < 0) {
		y = lb_reshape(x, LB_SHAPE(-1));
		for (int i = 0; y && i < by.n; i++)
			y = rolled(y, 0, by.v[i]);
		return y ? lb_reshape(y, lb_shape_of(x)) : NULL;
	}
	for (int i = 0; y && i < axes.n; i++) {
		int axis;
		if (!lb_axis("roll", axes.v[i], lb_shape_of(x), 0, &axis))
			return NULL;
		y = rolled(y, axis, by.v[by.n == 1 ? 0 : i]);
	}
	return y == x ? lb_untouched(x, lb_fail_site_now()) : y;
}

lb_tensor *lb_pad_edge(lb_tensor *x, lb_list low, lb_list high)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("pad_edge", x))
		return NULL;
	struct lb_tensor *y = x;
	for (int i = 0; i < x->rank; i++) {
		char text[LB_SHAPE_TEXT];
		bool has_low = low.n == x->rank && low.v, has_high = high.n == x->rank && high.v;
		if ((!has_low && low.n) || (!has_high && high.n)) {
			lb_fail("pad_edge: %d and %d numbers for the axes of %s: there is one for each, or none", low.n,
				high.n, lb_shape_text(x->rank, x->shape, text));
			return NULL;
		}
		int64_t before = has_low ? low.v[i] : 0, behind = has_high ? high.v[i] : 0, n = x->shape[i];
		if (before < 0 || behind < 0 || (n == 0 && (before || behind))) {
			lb_fail(
			    "pad_edge: axis %d of %s by %lld and %lld: there must be an edge, and no less than 0 of it",
			    i, lb_shape_text(x->rank, x->shape, text), (long long)before, (long long)behind);
			return NULL;
		}
		struct lb_tensor *parts[3];
		int count = 0;
		int64_t shape[LB_MAX_RANK];
		if (!y)
			return NULL;
		memcpy(shape, y->shape, sizeof shape);
		shape[i] = before;
		if (before)
			parts[count++] = lb_broadcast_to(part(y, i, 0, 1), (lb_list){ y->rank, shape });
		parts[count++] = y;
		shape[i] = behind;
		if (behind)
			parts[count++] = lb_broadcast_to(part(y, i, n - 1, n), (lb_list){ y->rank, shape });
		if (count > 1)
			y = lb_concatenate(count, parts, i);
	}
	return y == x ? lb_untouched(x, lb_fail_site_now()) : y;
}
