#include "inspect/browse/window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/tensor/slice.h"

enum { PIECE = 1 << 15, SORT_PIECE = 4096 };

/* ---- what is where ---- */

int64_t lbx_window_rows(const struct lbx_window *w)
{
	return w->row_axis < 0 ? 1 : w->shape[w->row_axis];
}

int64_t lbx_window_columns(const struct lbx_window *w)
{
	return w->column_axis < 0 ? 1 : w->shape[w->column_axis];
}

int64_t lbx_window_column(const struct lbx_window *w)
{
	return w->column_axis < 0 ? 0 : w->at[w->column_axis];
}

int64_t lbx_window_row_at(const struct lbx_window *w, int64_t place)
{
	return place < w->n_order ? w->order[place] : place;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t lbx_window_seen_rows(const struct lbx_window *w)
{
	return least(w->height, lbx_window_rows(w) - w->top);
}

int64_t lbx_window_seen_columns(const struct lbx_window *w)
{
	return least(w->width, lbx_window_columns(w) - w->left);
}

static int64_t place_of(const struct lbx_window *w, int64_t row)
{
	int64_t place = 0;

	if (row >= w->n_order)
		return row;
	while (w->order[place] != row)
		place++;
	return place;
}

/* ---- beginning and end ---- */

static bool is_other(const struct lbx_window *w, int axis)
{
	return axis != w->row_axis && axis != w->column_axis;
}

/* The last of the other axes that has something to be stepped through, or the last one. */
static void choose_other(struct lbx_window *w)
{
	w->other = -1;
	for (int axis = 0; axis < w->rank; axis++)
		if (is_other(w, axis) && (w->other < 0 || w->shape[axis] > 1))
			w->other = axis;
}

void lbx_window_begin(struct lbx_window *w, int rank, const int64_t *shape)
{
	*w = (struct lbx_window){ .rank = rank, .height = 1, .width = 1 };
	if (rank > 0) /* else there may be no list */
		memcpy(w->shape, shape, (size_t)rank * sizeof *shape);
	w->row_axis = rank == 0 ? -1 : rank == 1 ? 0 : rank - 2;
	w->column_axis = rank < 2 ? -1 : rank - 1;
	choose_other(w);
}

void lbx_window_deinit(struct lbx_window *w)
{
	free(w->order);
	w->order = NULL;
	w->n_order = 0;
}

void lbx_window_unsort(struct lbx_window *w)
{
	lbx_window_deinit(w);
	w->row = w->row_axis < 0 ? 0 : w->at[w->row_axis];
	w->changes++;
}

/* ---- moving ---- */

static void show(int64_t cursor, int64_t room, int64_t n, int64_t *first)
{
	int64_t last = n > room ? n - room : 0;

	if (*first > last)
		*first = last;
	if (cursor < *first)
		*first = cursor;
	if (cursor - *first >= room)
		*first = cursor - room + 1;
}

void lbx_window_fit(struct lbx_window *w, int64_t height, int64_t width)
{
	w->height = height < 1 ? 1 : height;
	w->width = width < 1 ? 1 : width;
	show(w->row, w->height, lbx_window_rows(w), &w->top);
	show(lbx_window_column(w), w->width, lbx_window_columns(w), &w->left);
}

/* Between 0 and n - 1. */
static int64_t moved(int64_t from, int64_t by, int64_t n)
{
	int64_t to;

	if (!lb_sum_of(from, by, &to))
		to = by < 0 ? 0 : n - 1;
	return to < 0 ? 0 : to >= n ? n - 1 : to;
}

void lbx_window_move(struct lbx_window *w, int64_t rows, int64_t columns)
{
	w->row = moved(w->row, rows, lbx_window_rows(w));
	if (w->row_axis >= 0)
		w->at[w->row_axis] = lbx_window_row_at(w, w->row);
	if (w->column_axis >= 0)
		w->at[w->column_axis] = moved(w->at[w->column_axis], columns, lbx_window_columns(w));
}

void lbx_window_page(struct lbx_window *w, int rows, int columns)
{
	w->top = moved(w->top, rows * w->height, lbx_window_rows(w));
	w->left = moved(w->left, columns * w->width, lbx_window_columns(w));
	lbx_window_move(w, rows * w->height, columns * w->width);
}

void lbx_window_go(struct lbx_window *w, const int64_t *at)
{
	bool leaves = false;

	for (int axis = 0; axis < w->rank; axis++)
		leaves |= is_other(w, axis) && at[axis] != w->at[axis];
	memcpy(w->at, at, (size_t)w->rank * sizeof *at);
	if (leaves)
		lbx_window_unsort(w); /* they were sorted by what is not seen any more */
	else if (w->row_axis >= 0)
		w->row = place_of(w, at[w->row_axis]);
}

static bool take_index(const char **text, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(*text, &end, 10);
	if (end == *text || errno)
		return false;
	*text = end + strspn(end, " \t");
	return true;
}

/* Numbers between commas, perhaps in brackets; how many, or -1. */
static int take_indices(const char *text, int64_t ret[LBX_ARRAY_RANK])
{
	bool bracket;
	int n = 0;

	text += strspn(text, " \t");
	bracket = *text == '[';
	text += bracket;
	do {
		if (n == LBX_ARRAY_RANK || !take_index(&text, &ret[n++]))
			return -1;
	} while (*text++ == ',');
	text--;
	if (bracket && *text++ != ']')
		return -1;
	return text[strspn(text, " \t")] ? -1 : n;
}

/* Which axes indices are of; false if there are too many or too few. */
static bool choose_axes(const struct lbx_window *w, int n, int axes[LBX_ARRAY_RANK])
{
	if (n == w->rank) {
		for (int i = 0; i < n; i++)
			axes[i] = i;
		return true;
	}
	axes[0] = w->row_axis >= 0 ? w->row_axis : w->column_axis;
	axes[1] = w->column_axis;
	return n == 1 || (n == 2 && w->rank > 2);
}

bool lbx_window_jump(struct lbx_window *w, const char *text)
{
	int64_t indices[LBX_ARRAY_RANK], at[LBX_ARRAY_RANK];
	int axes[LBX_ARRAY_RANK], n = take_indices(text, indices);

	if (w->rank == 0)
		return lb_fail("there is one element, without an index");
	if (n < 0)
		return lb_fail("'%s' is no index: write 3, 17", text);
	if (!choose_axes(w, n, axes))
		return lb_fail("%d %s for %d %s", n, LB_PLURAL(n, "index", "indices"), w->rank,
			       LB_PLURAL(w->rank, "axis", "axes"));
	memcpy(at, w->at, sizeof at);
	for (int i = 0; i < n; i++) {
		int64_t size = w->shape[axes[i]], index = indices[i] < 0 ? indices[i] + size : indices[i];
		if (index < 0 || index >= size)
			return lb_fail("index %lld is out of range for axis %d with size %lld", (long long)indices[i],
				       axes[i], (long long)size);
		at[axes[i]] = index;
	}
	lbx_window_go(w, at);
	return true;
}

void lbx_window_step(struct lbx_window *w, int64_t by)
{
	int64_t at[LBX_ARRAY_RANK];

	if (w->other < 0)
		return;
	memcpy(at, w->at, sizeof at);
	at[w->other] = moved(at[w->other], by, w->shape[w->other]);
	lbx_window_go(w, at);
}

void lbx_window_next_other(struct lbx_window *w)
{
	if (w->other < 0)
		return;
	do
		w->other = (w->other + 1) % w->rank;
	while (!is_other(w, w->other));
}

static bool set_axes(struct lbx_window *w, int row_axis, int column_axis)
{
	w->row_axis = row_axis;
	w->column_axis = column_axis;
	w->top = w->left = 0;
	lbx_window_unsort(w);
	if (w->other < 0 || !is_other(w, w->other))
		choose_other(w);
	return true;
}

static bool is_axis(const struct lbx_window *w, int axis)
{
	return (axis >= 0 && axis < w->rank) || lb_fail("there is no axis %d: there %s %d, counted from 0", axis,
							LB_PLURAL(w->rank, "is", "are"), w->rank);
}

bool lbx_window_set_rows(struct lbx_window *w, int axis)
{
	return is_axis(w, axis) && set_axes(w, axis, axis == w->column_axis ? w->row_axis : w->column_axis);
}

bool lbx_window_set_columns(struct lbx_window *w, int axis)
{
	return is_axis(w, axis) && set_axes(w, axis == w->row_axis ? w->column_axis : w->row_axis, axis);
}

/* The next axis, of those that are neither `axis` nor `taken`; of two axes, it stays. */
static int next_axis(const struct lbx_window *w, int axis, int taken)
{
	if (w->rank < 3)
		return axis;
	do
		axis = (axis + 1) % w->rank;
	while (axis == taken);
	return axis;
}

void lbx_window_next_rows(struct lbx_window *w)
{
	set_axes(w, next_axis(w, w->row_axis, w->column_axis), w->column_axis);
}

void lbx_window_next_columns(struct lbx_window *w)
{
	set_axes(w, w->row_axis, next_axis(w, w->column_axis, w->row_axis));
}

void lbx_window_transpose(struct lbx_window *w)
{
	set_axes(w, w->column_axis, w->row_axis);
}

/* ---- elements ---- */

static void exchange_axes(struct lbx_array *a)
{
	int64_t n = a->shape[0], stride = a->strides[0];

	a->shape[0] = a->shape[1];
	a->strides[0] = a->strides[1];
	a->shape[1] = n;
	a->strides[1] = stride;
	if (a->scaled.axis >= 0)
		a->scaled.axis = !a->scaled.axis;
}

/* The axes of rows and columns are kept; of each other one, the index at which the cursor is. */
bool lbx_window_plane(const struct lbx_window *w, const struct lbx_array *array, struct lbx_array *ret)
{
	struct lbx_slice slice = { 0 };
	int new_axes = (w->row_axis < 0) + (w->column_axis < 0);

	for (int axis = 0; axis < w->rank; axis++)
		slice.items[slice.n++] =
		    is_other(w, axis) ? (struct lbx_slice_item){ .kind = LBX_AT, .start = w->at[axis], .step = 1 }
				      : (struct lbx_slice_item){ .kind = LBX_RANGE, .step = 1 };
	for (int i = 0; i < new_axes; i++)
		slice.items[slice.n++] = (struct lbx_slice_item){ .kind = LBX_NEW_AXIS };
	*ret = *array;
	if (!lbx_slice_apply(&slice, ret))
		return false;
	if (w->row_axis < 0 ? w->column_axis >= 0 : w->column_axis >= 0 && w->column_axis < w->row_axis)
		exchange_axes(ret);
	return true;
}

bool lbx_window_read(const struct lbx_window *w, const struct lbx_array *plane, int64_t place, int64_t first, int64_t n,
		     void *to)
{
	return lbx_array_run(plane, (int64_t[]){ lbx_window_row_at(w, place), first }, n, to);
}

struct key {
	long double value;
	int64_t row;
};

static int by_row(const struct key *a, const struct key *b)
{
	return a->row < b->row ? -1 : a->row > b->row;
}

static int ascending(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (isnan(x->value) || isnan(y->value))
		return isnan(x->value) && isnan(y->value) ? by_row(x, y) : isnan(x->value) ? 1 : -1;
	return x->value < y->value ? -1 : x->value > y->value ? 1 : by_row(x, y);
}

static int descending(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (isnan(x->value) || isnan(y->value) || x->value == y->value)
		return ascending(a, b);
	return -ascending(a, b);
}

static bool read_keys(struct lbx_array plane, int64_t column, int64_t n, struct lbx_out *out, struct key *ret)
{
	int64_t bytes = lbx_dtype_bytes(plane.dtype);
	char elements[SORT_PIECE * 8];

	exchange_axes(&plane);
	for (int64_t done = 0; done < n; done += SORT_PIECE) {
		int64_t piece = least(SORT_PIECE, n - done);
		if (!lbx_progress(out, "sorting", done, n) ||
		    !lbx_array_run(&plane, (int64_t[]){ column, done }, piece, elements))
			return false;
		for (int64_t i = 0; i < piece; i++)
			ret[done + i] = (struct key){ lbx_element_number(elements + i * bytes, plane.dtype), done + i };
	}
	return true;
}

bool lbx_window_sort(struct lbx_window *w, const struct lbx_array *array, bool descends, struct lbx_out *out)
{
	int64_t n = least(lbx_window_rows(w), LBX_SORT_MAX), column = lbx_window_column(w);
	lb_auto_free struct key *keys = calloc((size_t)n, sizeof *keys);
	lb_auto_free int64_t *order = calloc((size_t)n, sizeof *order);
	struct lbx_array plane;

	if (!keys || !order)
		return lb_fail("out of memory to sort %lld rows", (long long)n);
	if (!lbx_window_plane(w, array, &plane) || !read_keys(plane, column, n, out, keys))
		return false;
	qsort(keys, (size_t)n, sizeof *keys, descends ? descending : ascending);
	for (int64_t i = 0; i < n; i++)
		order[i] = keys[i].row;
	lbx_window_unsort(w);
	w->order = order;
	order = NULL;
	w->n_order = n;
	w->sorted_by = column;
	w->descends = descends;
	w->row = place_of(w, w->row);
	return true;
}

double lbx_element_difference(const void *a, enum lb_dtype a_dtype, const void *b, enum lb_dtype b_dtype)
{
	double x = lbx_element_double(a, a_dtype), y = lbx_element_double(b, b_dtype);

	if (a_dtype == LB_C64 || b_dtype == LB_C64) {
		double i = a_dtype == LB_C64 ? lbx_element_double((const char *)a + 4, LB_F32) : 0;
		double j = b_dtype == LB_C64 ? lbx_element_double((const char *)b + 4, LB_F32) : 0;
		return x == y && i == j ? 0 : hypot(x - y, i - j);
	}
	if (a_dtype < LB_F16 && b_dtype < LB_F16)
		return (double)(lbx_element_number(a, a_dtype) - lbx_element_number(b, b_dtype));
	return x == y || (isnan(x) && isnan(y)) ? 0 : x - y;
}

/* ---- what is looked for ---- */

struct search {
	const struct lbx_array *array, *other;
	const struct lbx_wanted *condition;
	struct lbx_out *out;
	char *elements, *others; /* of a piece */
	int64_t done, most;
};

static bool holds(const struct search *s, int64_t i)
{
	const char *element = s->elements + i * lbx_dtype_bytes(s->array->dtype);

	if (!s->other)
		return lbx_wanted_holds(s->condition, lbx_element_number(element, s->array->dtype));
	return lbx_wanted_holds(s->condition, lbx_element_difference(element, s->array->dtype,
								     s->others + i * lbx_dtype_bytes(s->other->dtype),
								     s->other->dtype));
}

/* From `begin` up to `end`: sets *ret. */
static enum lbx_found look_between(struct search *s, int64_t begin, int64_t end, int64_t *ret)
{
	int64_t total = least(s->most, s->array->size);

	for (int64_t first = begin; first < end;) {
		int64_t n = least(least(PIECE, end - first), s->most - s->done);
		if (n == 0)
			return LBX_FOUND_TOO_FAR;
		if (!lbx_progress(s->out, "looking", s->done, total) ||
		    !lbx_array_copy(s->array, first, n, s->elements) ||
		    (s->other && !lbx_array_copy(s->other, first, n, s->others)))
			return LBX_FIND_FAILED;
		for (int64_t i = 0; i < n; i++) {
			if (holds(s, i)) {
				*ret = first + i;
				return LBX_FOUND;
			}
		}
		first += n;
		s->done += n;
	}
	return LBX_FOUND_NONE;
}

static int64_t index_of(const struct lbx_window *w)
{
	int64_t index = 0;

	for (int axis = 0; axis < w->rank; axis++)
		index = index * w->shape[axis] + w->at[axis];
	return index;
}

enum lbx_found lbx_window_find(const struct lbx_window *w, const struct lbx_array *array, const struct lbx_array *other,
			       const struct lbx_wanted *condition, int64_t most, struct lbx_out *out, int64_t *at)
{
	lb_auto_free char *elements = malloc((size_t)PIECE * 8), *others = malloc((size_t)PIECE * 8);
	struct search s = { array, other, condition, out, elements, others, 0, most };
	int64_t here = index_of(w), found;

	if (!elements || !others) {
		lb_fail("out of memory");
		return LBX_FIND_FAILED;
	}
	enum lbx_found how = look_between(&s, here + 1, array->size, &found);
	if (how == LBX_FOUND_NONE) {
		how = look_between(&s, 0, here + 1, &found);
		how = how == LBX_FOUND ? LBX_FOUND_BEFORE : how;
	}
	if (how == LBX_FOUND || how == LBX_FOUND_BEFORE)
		lbx_array_coordinates(array, found, at);
	return how;
}

void lbx_seen_add(struct lbx_seen *seen, const void *elements, int64_t n, enum lb_dtype dtype)
{
	int64_t bytes = lbx_dtype_bytes(dtype);

	for (int64_t i = 0; i < n; i++) {
		double value = lbx_element_magnitude((const char *)elements + i * bytes, dtype);
		seen->nan += isnan(value) != 0;
		seen->inf += isinf(value) != 0;
		if (!isfinite(value))
			continue;
		if (!seen->finite || value < seen->low)
			seen->low = value;
		if (!seen->finite || value > seen->high)
			seen->high = value;
		seen->mean += (value - seen->mean) / (double)++seen->finite;
	}
}
