/* Which part of an array is seen: two of its axes as rows and columns, one index of each other axis, a cursor, and as
 * many rows and columns around it as there is room for. No more is read than what is asked for here. It knows no
 * terminal. */
#ifndef LBX_WINDOW_H
#define LBX_WINDOW_H

#include "inspect/browse/wanted.h"
#include "inspect/tensor/array.h"

enum {
	LBX_SORT_MAX = 1 << 20,    /* rows that are sorted, at most: the first ones */
	LBX_FIND_MAX = 1 << 28,    /* elements that are looked at for one that fulfils a condition */
};

struct lbx_window {
	int rank;
	int64_t shape[LBX_ARRAY_RANK];
	int row_axis, column_axis; /* -1: there is none, but one row, one column */
	int other;                 /* the one of the other axes that is stepped through; -1: there is none */
	int64_t at[LBX_ARRAY_RANK]; /* where the cursor is */
	int64_t row;               /* its row's place on the screen, counted from the first row */
	int64_t top, left;         /* the first row (place) and column that are seen */
	int64_t height, width;     /* how many there is room for, at least 1 */
	int64_t *order;            /* the row at each of the first n_order places, where rows are sorted; else NULL */
	int64_t n_order, sorted_by;
	bool descends;
	uint64_t changes;          /* how often other elements have come to stand at the places */
};

/* The last two axes are rows and columns; of one axis, its elements are the rows. */
void lbx_window_begin(struct lbx_window *window, int rank, const int64_t *shape);
void lbx_window_deinit(struct lbx_window *window);

int64_t lbx_window_rows(const struct lbx_window *window);
int64_t lbx_window_columns(const struct lbx_window *window);
/* Where the cursor is among them. */
int64_t lbx_window_column(const struct lbx_window *window);
/* The row that stands at a place. */
int64_t lbx_window_row_at(const struct lbx_window *window, int64_t place);
/* How many rows and columns are seen. */
int64_t lbx_window_seen_rows(const struct lbx_window *window);
int64_t lbx_window_seen_columns(const struct lbx_window *window);

/* ---- moving ---- */

/* There is so much room now: the window is moved so far that the cursor is seen. */
void lbx_window_fit(struct lbx_window *window, int64_t height, int64_t width);
/* The cursor goes so many places, but no further than the first and the last. */
void lbx_window_move(struct lbx_window *window, int64_t rows, int64_t columns);
/* Pages of rows and columns: as many as are seen. */
void lbx_window_page(struct lbx_window *window, int rows, int columns);
/* It goes to an element, by an index of each axis. */
void lbx_window_go(struct lbx_window *window, const int64_t *at);
/* It goes where the user says: "3, 17", an index of each axis, or of rows and columns, or of the rows; negative ones count
 * from the end. Fails for what is no index, or out of range. */
bool lbx_window_jump(struct lbx_window *window, const char *text);
/* To another index of the axis that is stepped through. */
void lbx_window_step(struct lbx_window *window, int64_t by);
/* Another axis is stepped through: the next one. */
void lbx_window_next_other(struct lbx_window *window);
/* Rows, or columns, are that axis; where it was the other of the two, they are exchanged. */
bool lbx_window_set_rows(struct lbx_window *window, int axis);
bool lbx_window_set_columns(struct lbx_window *window, int axis);
/* The next axis that is not that of the other. */
void lbx_window_next_rows(struct lbx_window *window);
void lbx_window_next_columns(struct lbx_window *window);
void lbx_window_transpose(struct lbx_window *window);

/* ---- elements of an array of that shape ---- */

/* Rows x columns that the window may be moved over, in their own order. */
bool lbx_window_plane(const struct lbx_window *window, const struct lbx_array *array, struct lbx_array *ret);
/* The columns first … first+n-1 of the row at a place, dense, to `to`. */
bool lbx_window_read(const struct lbx_window *window, const struct lbx_array *plane, int64_t place, int64_t first,
		     int64_t n, void *to);
/* Sorts the rows, LBX_SORT_MAX at most, by the cursor's column; NaN stands last. The cursor stays with its row. */
bool lbx_window_sort(struct lbx_window *window, const struct lbx_array *array, bool descends, struct lbx_out *out);
/* Rows stand in their own order again. */
void lbx_window_unsort(struct lbx_window *window);

/* What is looked for, from the cursor on and then from the first element up to it, in row-major order. */
enum lbx_found { LBX_FOUND, LBX_FOUND_BEFORE, LBX_FOUND_NONE, LBX_FOUND_TOO_FAR, LBX_FIND_FAILED };
/* Sets `at`. In `other`, if it is not NULL, the condition is on the differences. `most`: LBX_FIND_MAX. */
enum lbx_found lbx_window_find(const struct lbx_window *window, const struct lbx_array *array,
			       const struct lbx_array *other, const struct lbx_wanted *condition, int64_t most,
			       struct lbx_out *out, int64_t *at);
/* a - b; of complex ones the distance. Equal ones, NaN too, do not differ. */
double lbx_element_difference(const void *a, enum lb_dtype a_dtype, const void *b, enum lb_dtype b_dtype);

/* What is told of elements that are seen. */
struct lbx_seen {
	double low, high, mean; /* of the finite ones */
	int64_t finite, nan, inf;
};
void lbx_seen_add(struct lbx_seen *seen, const void *elements, int64_t n, enum lb_dtype dtype);

#endif
