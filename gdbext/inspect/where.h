/* Where two arrays differ: whether what differs lies in some indices of an axis alone. */
#ifndef LBX_WHERE_H
#define LBX_WHERE_H

#include "inspect/compare.h"

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

/* Of two arrays of one shape that differ; n is 0 when they do so all over. */
bool lbx_where(const struct lbx_array *a, const struct lbx_array *b,
	       const struct lbx_comparison *comparison, struct lbx_out *out, struct lbx_where *ret);

#endif
