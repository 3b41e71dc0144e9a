/* Where two arrays differ: whether what differs lies in some indices of an axis alone. */
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
	int n;
	struct lbx_where_axis axes[LBX_ARRAY_RANK];
	double share;   /* of the elements at these indices that differ */
};

/* The indices at which elements differ, of each axis of a shape. */
struct lbx_marks {
	int rank;
	int64_t shape[LBX_ARRAY_RANK], left[LBX_ARRAY_RANK]; /* left: that have no mark yet */
	char *marks[LBX_ARRAY_RANK];                         /* NULL: not looked at */
};
bool lbx_marks_init(struct lbx_marks *marks, const struct lbx_array *array);
void lbx_marks_deinit(struct lbx_marks *marks);
/* What a comparison calls as its observer: `context` is the marks. */
void lbx_marks_see(void *context, const double *errors, int n, int64_t first);

/* ret->n is 0 when they differ all over, or too few do. */
void lbx_where(const struct lbx_marks *marks, const struct lbx_comparison *comparison, struct lbx_where *ret);

#endif
