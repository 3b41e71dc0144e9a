#include "inspect/replay/region.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* ---- regions ---- */

void lbx_region_all(int rank, const int64_t *shape, struct lbx_region *ret)
{
	*ret = (struct lbx_region){ .first = { 0 } };
	for (int i = 0; i < rank; i++) {
		ret->count[i] = shape[i];
		ret->step[i] = 1;
	}
}

bool lbx_region_is_all(const struct lbx_region *region, int rank, const int64_t *shape)
{
	for (int i = 0; i < rank; i++)
		if (region->count[i] != shape[i])
			return false;
	return true;
}

bool lbx_region_equal(const struct lbx_region *a, const struct lbx_region *b, int rank)
{
	for (int i = 0; i < rank; i++)
		if (a->first[i] != b->first[i] || a->count[i] != b->count[i] ||
		    (a->step[i] != b->step[i] && a->count[i] > 1))
			return false;
	return true;
}

static int64_t last_of(const struct lbx_region *region, int axis)
{
	return region->first[axis] + (region->count[axis] - 1) * region->step[axis];
}

void lbx_region_join(struct lbx_region *to, const struct lbx_region *other, int rank)
{
	for (int i = 0; i < rank; i++) {
		int64_t last = last_of(to, i), other_last = last_of(other, i);
		int64_t step = to->count[i] > 1 ? to->step[i] : 0;
		step = gcd(step, other->count[i] > 1 ? other->step[i] : 0);
		step = gcd(step, llabs(to->first[i] - other->first[i]));
		to->first[i] = to->first[i] < other->first[i] ? to->first[i] : other->first[i];
		last = last > other_last ? last : other_last;
		to->step[i] = step ? step : 1;
		to->count[i] = (last - to->first[i]) / to->step[i] + 1;
	}
}

void lbx_region_fill(struct lbx_region *region, int axis)
{
	region->count[axis] = (region->count[axis] - 1) * region->step[axis] + 1;
	region->step[axis] = 1;
}

int64_t lbx_region_size(const struct lbx_region *region, int rank)
{
	int64_t size = 1;

	for (int i = 0; i < rank; i++)
		size *= region->count[i]; /* of a tensor whose size fits */
	return size;
}

/* ---- layouts ---- */

void lbx_strided_dense(int rank, const int64_t *shape, struct lbx_strided *ret)
{
	int64_t stride = 1;

	*ret = (struct lbx_strided){ .rank = rank };
	for (int i = rank; i-- > 0;) {
		ret->shape[i] = shape[i];
		ret->strides[i] = stride;
		stride *= shape[i];
	}
}

bool lbx_strided_reach(const struct lbx_strided *layout, int64_t *low, int64_t *high)
{
	*low = *high = layout->offset;
	for (int i = 0; i < layout->rank; i++) {
		int64_t by;
		if (!lb_mul(layout->shape[i] - 1, layout->strides[i], &by) ||
		    !lb_sum_of(by < 0 ? *low : *high, by, by < 0 ? low : high))
			return false;
	}
	return true;
}

/* Sums and products wrap where a damaged record's do not fit: whoever makes the view checks the
 * result. */
static int64_t times(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

void lbx_strided_part(const struct lbx_strided *layout, const struct lbx_region *region, struct lbx_strided *ret)
{
	*ret = (struct lbx_strided){ .rank = layout->rank, .offset = layout->offset };
	for (int i = 0; i < layout->rank; i++) {
		ret->shape[i] = region->count[i];
		ret->strides[i] = times(layout->strides[i], region->step[i]);
		ret->offset = plus(ret->offset, times(region->first[i], layout->strides[i]));
	}
}

/* ---- places as numbers ---- */

/* A layout's axes of more than one element, by falling stride. */
struct digits {
	int n;
	int axis[LB_MAX_RANK];
	bool falls[LB_MAX_RANK]; /* the axis: its stride is negative */
	int64_t weight[LB_MAX_RANK], size[LB_MAX_RANK];
	int64_t low; /* the least place */
};

static void insert(struct digits *d, int axis, int64_t size, int64_t stride)
{
	int64_t weight = llabs(stride);
	int k = d->n++;

	for (; k > 0 && d->weight[k - 1] < weight; k--) {
		d->axis[k] = d->axis[k - 1];
		d->falls[k] = d->falls[k - 1];
		d->weight[k] = d->weight[k - 1];
		d->size[k] = d->size[k - 1];
	}
	d->axis[k] = axis;
	d->falls[k] = stride < 0;
	d->weight[k] = weight;
	d->size[k] = size;
}

static bool digits_of(const struct lbx_strided *base, struct digits *ret)
{
	int64_t reach, all = 0;

	*ret = (struct digits){ .low = base->offset };
	for (int i = 0; i < base->rank; i++) {
		if (base->shape[i] < 1 || base->strides[i] == INT64_MIN)
			return false;
		if (base->shape[i] == 1)
			continue;
		if (!lb_mul(base->shape[i] - 1, base->strides[i], &reach) ||
		    (reach < 0 && !lb_sum_of(ret->low, reach, &ret->low)))
			return false;
		insert(ret, i, base->shape[i], base->strides[i]);
	}
	for (int k = ret->n; k-- > 0;) {
		if (ret->weight[k] <= all || !lb_mul(ret->size[k] - 1, ret->weight[k], &reach) ||
		    !lb_sum_of(all, reach, &all))
			return false;
	}
	return true;
}

/* The digits of a distance; false if something is left. The first may be larger than its axis. */
static bool split(const struct digits *d, int64_t distance, int64_t ret[LB_MAX_RANK])
{
	for (int k = 0; k < d->n; k++) {
		ret[k] = distance / d->weight[k];
		distance %= d->weight[k];
	}
	return distance == 0;
}

/* A view's region, from its least place on, with distances that are not negative. */
struct reach {
	int64_t least[LB_MAX_RANK];                /* digits */
	int64_t distance[LB_MAX_RANK][LB_MAX_RANK]; /* of each axis of the view */
	bool falls[LB_MAX_RANK];
};

static bool reach_of(const struct lbx_strided *view, const struct lbx_region *region, const struct digits *d,
		     struct reach *ret)
{
	int64_t at = view->offset, by, distance;

	*ret = (struct reach){ .least = { 0 } };
	for (int i = 0; i < view->rank; i++) {
		if (!lb_mul(region->first[i], view->strides[i], &by) || !lb_sum_of(at, by, &at))
			return false;
		if (region->count[i] == 1)
			continue;
		if (!lb_mul(region->step[i], view->strides[i], &distance) || distance == INT64_MIN ||
		    !lb_mul(region->count[i] - 1, distance, &by))
			return false;
		ret->falls[i] = distance < 0;
		if (distance < 0 && !lb_sum_of(at, by, &at))
			return false;
		if (!split(d, llabs(distance), ret->distance[i]))
			return false;
	}
	if (at < d->low || __builtin_sub_overflow(at, d->low, &at) || !split(d, at, ret->least))
		return false;
	for (int k = 0; k < d->n; k++)
		if (ret->least[k] >= d->size[k])
			return false;
	return true;
}

/* Whether a carry from digit k to the one before it is a plain step in a copy, too: the axes are
 * neighbours, in a part of the buffer without gaps. */
static bool carries(const struct digits *d, const struct lbx_strided *base, int k)
{
	if (k == 0 || d->falls[k] || d->falls[k - 1] || d->axis[k - 1] > d->axis[k] ||
	    d->weight[k - 1] / d->weight[k] != d->size[k] || d->weight[k - 1] % d->weight[k])
		return false;
	for (int i = d->axis[k - 1] + 1; i < d->axis[k]; i++)
		if (base->shape[i] != 1)
			return false;
	return true;
}

static int64_t index_of(const struct digits *d, int k, int64_t digit)
{
	return d->falls[k] ? d->size[k] - 1 - digit : digit;
}

bool lbx_region_through(const struct lbx_strided *view, const struct lbx_region *region, const struct lbx_strided *base,
			struct lbx_region *ret)
{
	int64_t carry = 0, by, last;
	struct digits d;
	struct reach reach;

	if (!digits_of(base, &d) || !reach_of(view, region, &d, &reach))
		return false;
	lbx_region_all(base->rank, base->shape, ret);
	for (int k = d.n; k-- > 0;) {
		int axis = d.axis[k];
		int64_t extent = carry, step = carry ? 1 : 0;
		for (int i = 0; i < view->rank; i++) {
			if (!lb_mul(region->count[i] - 1, reach.distance[i][k], &by) || !lb_sum_of(extent, by, &extent))
				return false;
			step = gcd(step, by ? reach.distance[i][k] : 0);
		}
		if (!lb_sum_of(reach.least[k], extent, &last))
			return false;
		carry = last / d.size[k];
		if (carry && !carries(&d, base, k))
			return false;
		if (carry)
			continue; /* the axis is needed whole */
		ret->step[axis] = step ? step : 1;
		ret->count[axis] = extent / ret->step[axis] + 1;
		ret->first[axis] = index_of(&d, k, d.falls[k] ? last : reach.least[k]);
	}
	return true;
}

bool lbx_strided_through(const struct lbx_strided *view, const struct lbx_region *region,
			 const struct lbx_strided *base, const struct lbx_region *held, const struct lbx_strided *part,
			 struct lbx_strided *ret)
{
	struct digits d;
	struct reach reach;

	if (!digits_of(base, &d) || !reach_of(view, region, &d, &reach))
		return false;
	*ret = (struct lbx_strided){ .rank = view->rank, .offset = part->offset };
	for (int i = 0; i < view->rank; i++)
		ret->shape[i] = region->count[i];
	for (int k = 0; k < d.n; k++) {
		int axis = d.axis[k];
		int64_t from = index_of(&d, k, reach.least[k]) - held->first[axis], step = held->step[axis];
		int64_t stride = d.falls[k] ? -part->strides[axis] : part->strides[axis];
		if (from < 0 || from % step || from / step >= held->count[axis])
			return false;
		ret->offset = plus(ret->offset, times(from / step, part->strides[axis]));
		for (int i = 0; i < view->rank; i++) {
			int64_t by = reach.distance[i][k];
			if (by % step)
				return false;
			ret->strides[i] = plus(ret->strides[i], times(by / step, stride));
		}
	}
	/* from the region's first element on, not from its least place */
	for (int i = 0; i < view->rank; i++) {
		if (!reach.falls[i])
			continue;
		ret->offset = plus(ret->offset, times(region->count[i] - 1, ret->strides[i]));
		ret->strides[i] = times(ret->strides[i], -1);
	}
	return true;
}
