/* Python's slices: x[0, :, 2:8:2], x[..., -1], x[::-1], x[None]. */
#ifndef LBX_SLICE_H
#define LBX_SLICE_H

#include "inspect/tensor/array.h"

enum { LBX_SLICE_ITEMS = 2 * LBX_RANK_MAX };

enum lbx_slice_kind { LBX_AT, LBX_RANGE, LBX_ELLIPSIS, LBX_NEW_AXIS };

struct lbx_slice_item {
	enum lbx_slice_kind kind;
	bool has_start, has_stop;
	int bracket; /* from 0: x[0][1:3] has two */
	int64_t start, stop, step; /* LBX_AT: start */
};

struct lbx_slice {
	int n;
	struct lbx_slice_item items[LBX_SLICE_ITEMS];
};

/* `text` is "" or "[…][…]…". */
bool lbx_slice_parse(const char *text, struct lbx_slice *ret);
/* Narrows a view; an index out of range fails, naming axis and size. */
bool lbx_slice_apply(const struct lbx_slice *slice, struct lbx_array *array);
/* Whether it can be taken of a shape; fails as lbx_slice_apply() does. */
bool lbx_slice_check(const struct lbx_slice *slice, int rank, const int64_t *shape);

#endif
