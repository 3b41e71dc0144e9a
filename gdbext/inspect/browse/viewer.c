/* Draws what `browse` shows:
 *
 *	q: float32 (4, 6)
 *	[rows, columns]  rows 0-3 of 4, columns 0-5 of 6
 *	         0     1     2     3     4     5
 *	 0      0.    1.    2.    3.    4.    5.
 *	 ...
 *	[0, 0] 0.0
 *	seen: min 0, max 23, mean 11.5
 *	? help  q quit ...
 *
 * Numbers have one width, which depends on what is read; and how much is read, on the width. So as many columns are read as
 * might be seen at the least width, and then as many are shown as there is room for. */
#include "inspect/browse/viewer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/browse/screen.h"
#include "inspect/operand/value.h"
#include "inspect/tensor/describe.h"
#include "target/columns.h"

enum {
	HEAD = 3, /* title, place, numbers of columns */
	FOOT = 3, /* the cursor's value, statistics, keys */
	GAP = 1,
	LEAST_CELL = 1,
	MOST_COLUMNS = 512,
	LINE = 1024,
};

static const char *const help[] = {
	"arrows, hjkl      move the cursor",
	"PgUp PgDn         a page of rows       { }  of columns",
	"Home End          first, last column   < >  row",
	"g or :            go to an index: 3, 17 (or only the row)",
	"[ ]               step through the axis in <>",
	"Tab               another axis for [ ]",
	"r c               other rows, other columns: the next axis",
	"R C               likewise, by the axis' number",
	"t                 exchange rows and columns",
	"s                 sort rows by this column: up, down, not",
	"/                 find:  > 0.5   != 0   abs > 3   nan   inf",
	"n                 find the next one",
	"m                 heat map on or off",
	"+ -               more or fewer digits",
	"d                 with two: the second, or the difference",
	"Ctrl-L            draw anew",
	"q                 quit",
};

/* ---- reading ---- */

static int digits(int64_t n)
{
	int ret = 1;

	for (; n >= 10; n /= 10)
		ret++;
	return ret;
}

static int n_panes(const struct lbx_viewer *v)
{
	return v->n;
}

/* The i-th of those that are seen beside each other. */
static struct lbx_pane *pane_at(struct lbx_viewer *v, int i)
{
	return &v->panes[i && v->shows_difference ? 2 : i];
}

/* Columns that a pane has for its numbers. */
static int room_of(const struct lbx_viewer *v, int columns)
{
	int room = (columns - v->labels) / n_panes(v) - 2 * (n_panes(v) > 1);

	return room > 2 ? room : 2;
}

static bool read_side(struct lbx_viewer *v, int side, int64_t rows, int64_t first, int64_t n)
{
	struct lbx_pane *p = &v->panes[side];
	int64_t bytes = lbx_dtype_bytes(p->dtype);
	char *elements = realloc(p->elements, (size_t)(rows * n * 8));

	if (!elements)
		return lb_fail("out of memory");
	p->elements = elements;
	if (!lbx_window_plane(&v->window, &v->sides[side].array, &p->plane))
		return false;
	for (int64_t i = 0; i < rows; i++)
		if (!lbx_window_read(&v->window, &p->plane, v->window.top + i, first, n, elements + i * n * bytes))
			return false;
	return true;
}

static bool subtract(struct lbx_viewer *v, int64_t n)
{
	const struct lbx_pane *a = &v->panes[0], *b = &v->panes[1];
	struct lbx_pane *to = &v->panes[2];
	double *differences = realloc(to->elements, (size_t)n * sizeof *differences);

	if (!differences)
		return lb_fail("out of memory");
	to->elements = (char *)differences;
	v->different = 0;
	v->most = 0;
	for (int64_t i = 0; i < n; i++) {
		double by = lbx_element_difference(a->elements + i * lbx_dtype_bytes(a->dtype), a->dtype,
						   b->elements + i * lbx_dtype_bytes(b->dtype), b->dtype);
		differences[i] = by;
		v->different += by != 0;
		v->most = isnan(by) || fabs(by) > v->most ? fabs(by) : v->most;
	}
	return true;
}

static bool read_columns(struct lbx_viewer *v, int64_t first, int64_t n)
{
	int64_t rows = lbx_window_seen_rows(&v->window);

	v->rows = rows;
	v->columns = n;
	for (int i = 0; i < v->n; i++)
		if (!read_side(v, i, rows, first, n))
			return false;
	if (v->n > 1 && !subtract(v, rows * n))
		return false;
	for (int i = 0; i < v->n + (v->n > 1); i++) {
		struct lbx_pane *p = &v->panes[i];
		lbx_number_format(p->elements, rows * n, p->dtype, v->precision, &p->format);
		p->seen = (struct lbx_seen){ 0 };
		lbx_seen_add(&p->seen, p->elements, rows * n, p->dtype);
	}
	return true;
}

/* Columns that the numbers of the panes take, and the columns' own numbers. */
static int measure(struct lbx_viewer *v, int64_t first, int64_t n)
{
	char text[LBX_NUMBER_MAX];
	int most = digits(first + n - 1);

	for (int i = 0; i < n_panes(v); i++) {
		struct lbx_pane *p = pane_at(v, i);
		int columns = lbx_number_print(&p->format, p->elements, text);
		most = columns > most ? columns : most;
	}
	return most;
}

/* How many columns there is room for, when those from `first` on are seen. */
static bool fit_from(struct lbx_viewer *v, int64_t first, int64_t n, int room, int64_t *ret)
{
	if (!read_columns(v, first, n))
		return false;
	int cell = measure(v, first, n);
	v->cell = cell > v->cell ? cell : v->cell;
	v->cell = v->cell < room - GAP ? v->cell : room - GAP;
	*ret = room / (v->cell + GAP);
	*ret = *ret < 1 ? 1 : *ret;
	return true;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static bool read_seen(struct lbx_viewer *v, int height, int columns)
{
	struct lbx_window *w = &v->window;
	int64_t all = lbx_window_columns(w), cursor = lbx_window_column(w), width = w->width;

	lbx_window_fit(w, height, 1 + (cursor > w->left ? cursor - w->left : 0));
	v->labels = digits(lbx_window_rows(w) - 1) + 1;
	int room = room_of(v, columns);
	int64_t most = least(room / (LEAST_CELL + GAP), MOST_COLUMNS);
	if (!fit_from(v, w->left, least(most, all - w->left), room, &width))
		return false;
	if (cursor >= w->left + width) {
		int64_t first = cursor >= most ? cursor - most + 1 : 0;
		if (!fit_from(v, first, cursor - first + 1, room, &width))
			return false;
	}
	lbx_window_fit(w, height, width);
	return read_columns(v, w->left, lbx_window_seen_columns(w));
}

static bool is_as_before(const struct lbx_viewer *v, const struct lbx_view_of *now)
{
	const struct lbx_view_of *of = &v->of;

	return of->is_there && of->top == now->top && of->left == now->left && of->height == now->height &&
	       of->width == now->width && of->changes == now->changes && of->precision == now->precision &&
	       of->lines == now->lines && of->columns == now->columns && of->shows_difference == now->shows_difference;
}

static struct lbx_view_of view_of(const struct lbx_viewer *v, int lines, int columns)
{
	const struct lbx_window *w = &v->window;

	return (struct lbx_view_of){ w->top, w->left, w->height,           w->width, w->changes, v->precision,
				     lines,  columns, v->shows_difference, true };
}

/* Reads nothing while the cursor moves among what is there. */
static void look(struct lbx_viewer *v, int lines, int columns)
{
	int height = lines - HEAD - FOOT;
	struct lbx_view_of now;

	lbx_window_fit(&v->window, height, v->window.width);
	now = view_of(v, lines, columns);
	if (is_as_before(v, &now))
		return;
	if (v->of.changes != now.changes || v->of.precision != now.precision ||
	    v->of.shows_difference != now.shows_difference)
		v->cell = 0;
	v->unread[0] = '\0';
	bool done = read_seen(v, height, columns);
	if (!done) {
		snprintf(v->unread, sizeof v->unread, "%s", lb_error_message());
		lb_clear_error();
	}
	v->of = view_of(v, lines, columns);
	v->of.is_there = done;
}

/* ---- drawing ---- */

static int put(int line, int *column, int columns, int style, const char *text)
{
	int taken = lbx_screen_put(line, *column, columns - *column, style, text);

	*column += taken;
	return taken;
}

/* "[0, <2>, rows, columns]": <> is around the axis that is stepped through. */
static void place_text(const struct lbx_window *w, char *ret, size_t size)
{
	size_t n = 0;

	n += (size_t)snprintf(ret, size, "[");
	for (int axis = 0; axis < w->rank && n < size; axis++) {
		const char *comma = axis ? ", " : "";
		if (axis == w->row_axis || axis == w->column_axis)
			n += (size_t)snprintf(ret + n, size - n, "%s%s", comma,
					      axis == w->row_axis ? "rows" : "columns");
		else
			n += (size_t)snprintf(ret + n, size - n, axis == w->other ? "%s<%lld>" : "%s%lld", comma,
					      (long long)w->at[axis]);
	}
	if (n < size)
		snprintf(ret + n, size - n, "]");
}

/* Where there are too many axes for a line. */
static void axes_text(const struct lbx_window *w, char *ret, size_t size)
{
	snprintf(ret, size, "[%d axes, rows: %d, columns: %d, axis %d: <%lld>]", w->rank, w->row_axis, w->column_axis,
		 w->other, (long long)w->at[w->other]);
}

static void draw_place(const struct lbx_viewer *v, int columns)
{
	const struct lbx_window *w = &v->window;
	char place[LINE], rest[LINE];
	int column = 0;
	size_t n = 0;

	place_text(w, place, sizeof place);
	if (w->rank > 2 && lbx_columns(place) > columns / 2)
		axes_text(w, place, sizeof place);
	put(1, &column, columns, LBX_SCREEN_PLAIN, place);
	if (w->rank) {
		n += (size_t)snprintf(rest + n, sizeof rest - n, "  rows %lld-%lld of %lld", (long long)w->top,
				      (long long)(w->top + lbx_window_seen_rows(w) - 1), (long long)lbx_window_rows(w));
		n += (size_t)snprintf(rest + n, sizeof rest - n, ", columns %lld-%lld of %lld", (long long)w->left,
				      (long long)(w->left + lbx_window_seen_columns(w) - 1),
				      (long long)lbx_window_columns(w));
		put(1, &column, columns, LBX_SCREEN_DIM, rest);
	}
}

static void draw_title(const struct lbx_viewer *v, int columns)
{
	int column = 0;

	for (int i = 0; i < v->n; i++) {
		const struct lbx_operand *side = &v->sides[i];
		char shape[LBX_LIST_MAX], type[LBX_LIST_MAX + 64];
		lbx_format_list(side->array.shape, side->array.rank, shape, sizeof shape);
		if (i)
			put(0, &column, columns, LBX_SCREEN_PLAIN, " and ");
		put(0, &column, columns, LBX_SCREEN_BOLD, side->label);
		snprintf(type, sizeof type, ": %s %s%s%s%s%s", lbx_array_dtype_name(&side->array), shape,
			 lbx_part_note(side->array.dtype), side->was_lazy ? ", replayed outside the program" : "",
			 i || !v->note[0] ? "" : ", ", i ? "" : v->note);
		/* of a second one only what it is called where the two are alike */
		if (i + 1 < v->n || v->n == 1 || v->sides[0].array.dtype != side->array.dtype)
			put(0, &column, columns, LBX_SCREEN_PLAIN, type);
	}
}

static void right(char *ret, size_t size, int width, const char *text)
{
	snprintf(ret, size, "%*s%s", width > lbx_columns(text) ? width - lbx_columns(text) : 0, "", text);
}

static int heat_style(const struct lbx_pane *p, double value, double low, double high)
{
	int steps = lbx_screen_heat();
	double t = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;

	(void)p;
	return LBX_SCREEN_HEAT + (int)(fmax(0, fmin(1, t)) * (steps - 1) + 0.5);
}

/* The two sides have one range, so that what is equal looks equal; their difference has its own. */
static void range_of(struct lbx_viewer *v, const struct lbx_pane *p, double *low, double *high)
{
	*low = p->seen.low;
	*high = p->seen.high;
	for (int i = 0; i < v->n && p != &v->panes[2]; i++) {
		const struct lbx_seen *s = &v->panes[i].seen;
		if (s->finite && (!p->seen.finite || s->low < *low))
			*low = s->low;
		if (s->finite && (!p->seen.finite || s->high > *high))
			*high = s->high;
	}
}

static bool differs(const struct lbx_viewer *v, int64_t i)
{
	return v->n > 1 && ((const double *)v->panes[2].elements)[i] != 0;
}

static int style_of(struct lbx_viewer *v, const struct lbx_pane *p, int64_t i, bool has_cursor, double low, double high)
{
	double value = lbx_element_magnitude(p->elements + i * lbx_dtype_bytes(p->dtype), p->dtype);

	if (has_cursor)
		return LBX_SCREEN_REVERSE;
	if (!isfinite(value))
		return LBX_SCREEN_MARKED;
	if (v->heat && lbx_screen_heat())
		return heat_style(p, value, low, high);
	return differs(v, i) ? LBX_SCREEN_DIFFERS : LBX_SCREEN_PLAIN;
}

static void draw_numbers(struct lbx_viewer *v, const struct lbx_pane *p, int from)
{
	const struct lbx_window *w = &v->window;
	int64_t bytes = lbx_dtype_bytes(p->dtype);
	char number[LBX_NUMBER_MAX], text[LINE];
	double low, high;

	range_of(v, p, &low, &high);
	for (int64_t k = 0; k < v->columns; k++) {
		bool is_cursors = w->left + k == lbx_window_column(w);
		bool is_key = w->order && w->left + k == w->sorted_by;
		snprintf(number, sizeof number, "%s%lld", is_key ? w->descends ? "v" : "^" : "",
			 (long long)(w->left + k));
		right(text, sizeof text, v->cell, number);
		lbx_screen_put(HEAD - 1, from + (int)k * (v->cell + GAP) + GAP, v->cell,
			       is_cursors ? LBX_SCREEN_BOLD : LBX_SCREEN_DIM, text);
	}
	for (int64_t i = 0; i < v->rows * v->columns; i++) {
		int64_t row = i / v->columns, k = i % v->columns;
		bool has_cursor = w->top + row == w->row && w->left + k == lbx_window_column(w);
		lbx_number_print(&p->format, p->elements + i * bytes, number);
		right(text, sizeof text, v->cell, number);
		lbx_screen_put(HEAD + (int)row, from + (int)k * (v->cell + GAP) + GAP, v->cell,
			       style_of(v, p, i, has_cursor, low, high), text);
	}
}

static void draw_labels(const struct lbx_viewer *v)
{
	const struct lbx_window *w = &v->window;
	char number[32], text[64];

	for (int64_t i = 0; i < v->rows; i++) {
		snprintf(number, sizeof number, "%lld", (long long)lbx_window_row_at(w, w->top + i));
		right(text, sizeof text, v->labels - 1, number);
		lbx_screen_put(HEAD + (int)i, 0, v->labels - 1, w->top + i == w->row ? LBX_SCREEN_BOLD : LBX_SCREEN_DIM,
			       text);
	}
}

/* ---- the lines at the foot ---- */

static void element_text(const struct lbx_pane *p, int64_t i, char ret[LBX_NUMBER_MAX])
{
	lbx_number_scalar(p->elements + i * lbx_dtype_bytes(p->dtype), p->dtype, ret);
}

static void draw_cursor(struct lbx_viewer *v, int line, int columns)
{
	const struct lbx_window *w = &v->window;
	int64_t i = (w->row - w->top) * v->columns + lbx_window_column(w) - w->left;
	char place[LBX_LIST_MAX], number[LBX_NUMBER_MAX], text[LINE];
	int column = 0;

	lbx_format_place(w->at, w->rank, place, sizeof place);
	if (lbx_columns(place) > columns / 2)
		snprintf(place, sizeof place, "[... %lld, %lld]", (long long)w->at[w->row_axis],
			 (long long)w->at[w->column_axis]);
	put(line, &column, columns, LBX_SCREEN_BOLD, place);
	for (int k = 0; k < v->n + (v->n > 1); k++) {
		element_text(&v->panes[k], i, number);
		snprintf(text, sizeof text, "%s%s", k == 0 ? "  " : k == 1 ? " and " : ", difference ", number);
		put(line, &column, columns, LBX_SCREEN_PLAIN, text);
	}
}

static void draw_statistics(struct lbx_viewer *v, int line, int columns)
{
	const struct lbx_pane *p = pane_at(v, 0);
	const struct lbx_seen *s = &p->seen;
	char text[LINE];
	int column = 0;

	put(line, &column, columns, LBX_SCREEN_DIM, "seen: ");
	if (s->finite)
		snprintf(text, sizeof text, "min %g, max %g, mean %g", s->low, s->high, s->mean);
	else
		snprintf(text, sizeof text, "no finite element");
	put(line, &column, columns, LBX_SCREEN_PLAIN, text);
	snprintf(text, sizeof text, ", %lld NaN", (long long)s->nan);
	put(line, &column, columns, s->nan ? LBX_SCREEN_MARKED : LBX_SCREEN_PLAIN, text);
	snprintf(text, sizeof text, ", %lld Inf", (long long)s->inf);
	if (s->inf)
		put(line, &column, columns, LBX_SCREEN_MARKED, text);
	if (v->n > 1) {
		snprintf(text, sizeof text, v->different ? "; %lld differ by up to %.4g" : "; none differs",
			 (long long)v->different, v->most);
		put(line, &column, columns, v->different ? LBX_SCREEN_DIFFERS : LBX_SCREEN_PLAIN, text);
	}
}

static void draw_keys(const struct lbx_viewer *v, int line, int columns)
{
	const char *const keys[] = { "? help",
				     "  q quit",
				     "  / find",
				     "  g go to",
				     v->n > 1 ? "  d difference" : "",
				     "  s sort",
				     lbx_screen_heat() ? "  m heat map" : "",
				     "  t exchange axes" };
	int column = 0;

	if (v->message[0])
		lbx_screen_put(line, 0, columns, LBX_SCREEN_REVERSE, v->message);
	/* those for which there is room */
	for (size_t i = 0; !v->message[0] && i < sizeof keys / sizeof *keys; i++)
		if (column + lbx_columns(keys[i]) <= columns)
			put(line, &column, columns, LBX_SCREEN_DIM, keys[i]);
}

static void draw_help(int lines, int columns)
{
	lbx_screen_put(0, 0, columns, LBX_SCREEN_BOLD, "Keys");
	for (int i = 0; i < (int)(sizeof help / sizeof *help) && i + 2 < lines; i++)
		lbx_screen_put(i + 1, 0, columns, LBX_SCREEN_PLAIN, help[i]);
	lbx_screen_put(lines - 1, 0, columns, LBX_SCREEN_DIM, "any key goes back");
}

static void draw_panes(struct lbx_viewer *v, int columns)
{
	int room = room_of(v, columns);

	draw_labels(v);
	for (int i = 0; i < n_panes(v); i++) {
		int from = v->labels - GAP + i * (room + 2);
		draw_numbers(v, pane_at(v, i), from);
		for (int64_t row = -1; i && row < v->rows; row++)
			lbx_screen_put(HEAD + (int)row, from - 1, 1, LBX_SCREEN_DIM, "|");
	}
}

void lbx_viewer_draw(struct lbx_viewer *v)
{
	int lines, columns, typed = -1;

	lbx_screen_size(&lines, &columns);
	lbx_screen_clear();
	if (v->helps) {
		draw_help(lines, columns);
		lbx_screen_show(-1, 0);
		return;
	}
	look(v, lines, columns);
	draw_title(v, columns);
	draw_place(v, columns);
	if (v->unread[0]) {
		lbx_screen_put(HEAD, 0, columns, LBX_SCREEN_MARKED, v->unread);
	} else {
		draw_panes(v, columns);
		draw_cursor(v, lines - 3, columns);
		draw_statistics(v, lines - 2, columns);
	}
	if (v->asks) {
		typed = lbx_screen_put(lines - 1, 0, columns, LBX_SCREEN_BOLD, v->asks);
		typed += lbx_screen_put(lines - 1, typed, columns - typed, LBX_SCREEN_PLAIN, v->typed);
	} else {
		draw_keys(v, lines - 1, columns);
	}
	lbx_screen_show(typed < 0 ? -1 : lines - 1, typed < columns ? typed : columns - 1);
}

void lbx_viewer_say(const char *text)
{
	char line[LINE];
	int lines, columns;

	lbx_screen_size(&lines, &columns);
	snprintf(line, sizeof line, "%s%*s", text, columns > lbx_columns(text) ? columns - lbx_columns(text) : 0, "");
	lbx_screen_put(lines - 1, 0, columns, LBX_SCREEN_REVERSE, line);
	lbx_screen_show(-1, 0);
}

void lbx_viewer_deinit(struct lbx_viewer *v)
{
	for (int i = 0; i < 3; i++)
		free(v->panes[i].elements);
	lbx_window_deinit(&v->window);
	for (int i = 0; i < v->n; i++)
		lbx_operand_release(&v->sides[i]);
}
