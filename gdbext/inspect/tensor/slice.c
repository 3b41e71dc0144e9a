#include "inspect/tensor/slice.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"

static const char *blanks(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* A whole number at *s; true if there was none (then *has is false). */
static bool number(const char **s, bool *has, int64_t *ret)
{
	const char *start = blanks(*s);
	char *end;

	*has = false;
	if (!isdigit((unsigned char)start[*start == '-' || *start == '+']))
		return true;
	errno = 0;
	*ret = strtoll(start, &end, 10);
	if (errno == ERANGE)
		return lb_fail("index %.*s does not fit 64 bits", (int)(end - start), start);
	*has = true;
	*s = blanks(end);
	return true;
}

static bool fail_at(const char *s, const char *expected)
{
	return *s ? lb_fail("bad slice: expected %s at '%s'", expected, s) : lb_fail("bad slice: a ] is missing");
}

static bool item(const char **s, struct lbx_slice_item *ret)
{
	bool has_step;

	*s = blanks(*s);
	if (strncmp(*s, "...", 3) == 0) {
		ret->kind = LBX_ELLIPSIS;
		*s += 3;
		return true;
	}
	if (strncmp(*s, "None", 4) == 0 && !isalnum((unsigned char)(*s)[4])) {
		ret->kind = LBX_NEW_AXIS;
		*s += 4;
		return true;
	}
	ret->step = 1;
	if (!number(s, &ret->has_start, &ret->start))
		return false;
	*s = blanks(*s);
	if (**s != ':') {
		ret->kind = LBX_AT;
		return ret->has_start || fail_at(*s, "an index, a range or ...");
	}
	ret->kind = LBX_RANGE;
	++*s;
	if (!number(s, &ret->has_stop, &ret->stop))
		return false;
	*s = blanks(*s);
	if (**s != ':')
		return true;
	++*s;
	int64_t step = 1;
	if (!number(s, &has_step, &step))
		return false;
	if (step == 0)
		return lb_fail("bad slice: a step of 0");
	ret->step = step;
	return true;
}

bool lbx_slice_parse(const char *text, struct lbx_slice *ret)
{
	const char *s = blanks(text);
	int bracket = 0;

	memset(ret, 0, sizeof *ret);
	for (; *s; s = blanks(s), bracket++) {
		if (*s != '[')
			return fail_at(s, "[");
		s = blanks(s + 1);
		if (*s == ']')
			return lb_fail("bad slice: [] is empty");
		while (*s != ']') {
			if (ret->n == LBX_SLICE_ITEMS)
				return lb_fail("bad slice: more than %d indices", LBX_SLICE_ITEMS);
			struct lbx_slice_item *i = &ret->items[ret->n++];
			i->bracket = bracket;
			if (!item(&s, i))
				return false;
			s = blanks(s);
			if (*s == ',')
				s = blanks(s + 1);
			else if (*s != ']')
				return fail_at(s, ", or ]");
		}
		s++;
	}
	return true;
}

/* Python's slice.indices(): where a range starts in an axis of n, and its length. */
static void range(const struct lbx_slice_item *i, int64_t n, int64_t *start, int64_t *length)
{
	int64_t low = i->step < 0 ? -1 : 0, high = i->step < 0 ? n - 1 : n;
	int64_t from = i->step < 0 ? high : low, to = i->step < 0 ? low : high;

	if (i->has_start) {
		from = i->start < 0 ? i->start + n : i->start; /* start < 0 <= n: no overflow */
		from = from < low ? low : from > high ? high : from;
	}
	if (i->has_stop) {
		to = i->stop < 0 ? i->stop + n : i->stop;
		to = to < low ? low : to > high ? high : to;
	}
	*start = from;
	if (i->step > 0)
		*length = to > from ? (to - from - 1) / i->step + 1 : 0;
	else if (i->step == INT64_MIN)
		*length = from > to;
	else
		*length = from > to ? (from - to - 1) / -i->step + 1 : 0;
}

static bool add_axis(struct lbx_array *to, int64_t size, int64_t stride)
{
	if (to->rank == LBX_ARRAY_RANK)
		return lb_fail("bad slice: more than %d axes", LBX_ARRAY_RANK);
	to->shape[to->rank] = size;
	to->strides[to->rank++] = stride;
	return true;
}

/* In an array without elements strides may be anything: sums wrap, and are not used. */
static void move(struct lbx_array *to, int64_t by, int64_t stride)
{
	to->offset = (int64_t)((uint64_t)to->offset + (uint64_t)by * (uint64_t)stride);
}

/* The scales of an axis that becomes the next one of `to`, from its index `start` on. */
static void move_scales(const struct lbx_array *from, int axis, int64_t start, int64_t step, struct lbx_array *to)
{
	if (!from->encoding || from->scaled.axis != axis)
		return;
	to->scaled.first = from->scaled.first + start * from->scaled.step;
	to->scaled.step = from->scaled.step * step;
	to->scaled.axis = to->rank;
}

static bool apply_item(const struct lbx_slice_item *i, const struct lbx_array *from, int axis, struct lbx_array *to)
{
	int64_t n = from->shape[axis], stride = from->strides[axis], start, length;

	if (i->kind == LBX_AT) {
		int64_t at = i->start < 0 ? i->start + n : i->start;
		if (at < 0 || at >= n)
			return lb_fail("index %lld is out of range for axis %d with size %lld", (long long)i->start,
				       axis, (long long)n);
		move(to, at, stride);
		move_scales(from, axis, at, 0, to);
		if (from->encoding && from->scaled.axis == axis)
			to->scaled.axis = -1;
		return true;
	}
	range(i, n, &start, &length);
	int64_t step = 0;
	if (length > 1)
		step = (int64_t)((uint64_t)i->step * (uint64_t)stride);
	if (length > 0)
		move(to, start, stride);
	move_scales(from, axis, length > 0 ? start : 0, length > 1 ? i->step : 0, to);
	return add_axis(to, length, length > 1 ? step : 1);
}

static bool keep_axis(const struct lbx_array *from, int axis, struct lbx_array *to)
{
	move_scales(from, axis, 0, 1, to);
	return add_axis(to, from->shape[axis], from->strides[axis]);
}

static bool apply_bracket(const struct lbx_slice_item *items, int n, struct lbx_array *array)
{
	struct lbx_array from = *array, *to = array;
	int taken = 0, axis = 0;
	bool rest = false;

	for (int i = 0; i < n; i++) {
		taken += items[i].kind == LBX_AT || items[i].kind == LBX_RANGE;
		if (items[i].kind == LBX_ELLIPSIS && rest)
			return lb_fail("bad slice: a second '...'");
		rest |= items[i].kind == LBX_ELLIPSIS;
	}
	if (taken > from.rank)
		return lb_fail("bad slice: %d %s for %d %s", taken, LB_PLURAL(taken, "index", "indices"), from.rank,
			       LB_PLURAL(from.rank, "axis", "axes"));
	to->rank = 0;
	for (int i = 0; i < n; i++) {
		if (items[i].kind == LBX_NEW_AXIS) {
			if (!add_axis(to, 1, 0))
				return false;
		} else if (items[i].kind == LBX_ELLIPSIS) {
			for (int k = from.rank - taken; k > 0; k--)
				if (!keep_axis(&from, axis++, to))
					return false;
		} else if (!apply_item(&items[i], &from, axis++, to)) {
			return false;
		}
	}
	while (axis < from.rank)
		if (!keep_axis(&from, axis++, to))
			return false;
	return true;
}

bool lbx_slice_apply(const struct lbx_slice *slice, struct lbx_array *array)
{
	for (int i = 0, n; i < slice->n; i += n) {
		for (n = 1; i + n < slice->n; n++)
			if (slice->items[i + n].bracket != slice->items[i].bracket)
				break;
		if (!apply_bracket(&slice->items[i], n, array))
			return false;
	}
	int64_t size = 1;
	bool empty = false;
	for (int i = 0; i < array->rank; i++)
		empty |= array->shape[i] == 0;
	/* a part of what had a size: it fits */
	for (int i = 0; i < array->rank && !empty; i++)
		size *= array->shape[i];
	array->size = empty ? 0 : size;
	return true;
}

bool lbx_slice_check(const struct lbx_slice *slice, int rank, const int64_t *shape)
{
	struct lbx_array a = { .rank = rank };

	memcpy(a.shape, shape, (size_t)rank * sizeof *shape);
	return lbx_slice_apply(slice, &a);
}
