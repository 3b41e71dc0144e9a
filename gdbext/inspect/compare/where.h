/* Where two arrays differ: whether what differs lies in some indices of an axis alone. What may be rounding, which is
 * everywhere, counts only where all may. */
#ifndef LBX_WHERE_H
#define LBX_WHERE_H

#include "inspect/compare/compare.h"

enum { LBX_WHERE_TEXT = 200 };

struct lbx_where_axis {
	int axis;
	int64_t n, first, last, step; /* n indices, equally spaced by `step`, or 0: not so */
	char text[LBX_WHERE_TEXT];    /* "indices 128 to 132 of axis 0, what remains after …" */
};

struct lbx_where {
	bool nan_alone; /* where both have numbers, they are equal */
	bool is_of_far; /* what is told is of elements that differ by more than rounding alone */
	int n;
	struct lbx_where_axis axes[LBX_ARRAY_RANK];
	double share;   /* of the elements at these indices that differ so */
};

enum { LBX_MARK_DIFFERENT, LBX_MARK_FAR, LBX_MARKS };

/* The indices at which elements differ, and at which they do so by more than rounding, of each axis of a shape. */
struct lbx_marks {
	double rtol, atol; /* rounding: of either dtype, of numbers of the second's size */
	int64_t far;       /* elements beyond */
	int rank;
	int64_t shape[LBX_ARRAY_RANK], left[LBX_MARKS][LBX_ARRAY_RANK]; /* left: that have no mark yet */
	char *marks[LBX_MARKS][LBX_ARRAY_RANK];                         /* NULL: not looked at */
};
/* At least `tolerance` counts as rounding. */
bool lbx_marks_init(struct lbx_marks *marks, const struct lbx_array *a, const struct lbx_array *b,
		    const struct lbx_tolerance *tolerance);
void lbx_marks_deinit(struct lbx_marks *marks);
/* What a comparison calls as its observer: `context` is the marks. */
void lbx_marks_see(void *context, const double *errors, const double *sizes, int n, int64_t first);

/* ret->n is 0 when they differ all over, or too few do. */
void lbx_where(const struct lbx_marks *marks, const struct lbx_comparison *comparison, struct lbx_where *ret);
/* The part of an array, of the shape that was compared, that lies at these indices; those of an axis that are not
 * equally spaced are no part. False where that is all of it. */
bool lbx_where_part(const struct lbx_where *where, const struct lbx_array *array, struct lbx_array *ret);

#endif
