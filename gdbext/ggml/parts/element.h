/* An element of a node, and which part of a source is looked for. ggml counts axes from the innermost one, and so do the
 * indices here. */
#ifndef LBX_GGML_ELEMENT_H
#define LBX_GGML_ELEMENT_H

#include "ggml/set.h"
#include "tensors/part.h"

enum { LBX_GGML_VIEWED = LBX_GGML_SOURCES /* in place of a source: what the node is a view of, and is no source */ };

struct lbx_ggml_element {
	struct lbx_ggml_set *g;
	const struct lbx_ggml_record *t, *x; /* the node, and its source */
	int source;
	int64_t at[LBX_GGML_AXES];
	struct lbx_part *ret;
};

/* Fills in the part; false: what it is is not known, as when numbers that choose cannot be read. What they fill in may
 * lie outside: who asks looks at that. */
typedef bool lbx_ggml_part_fn(struct lbx_ggml_element *e);

static inline void lbx_ggml_some_at(const struct lbx_ggml_element *e, int d, int64_t first, int64_t count)
{
	e->ret->first[d] = first;
	e->ret->count[d] = count;
	e->ret->step[d] = 1;
}

static inline void lbx_ggml_one_at(const struct lbx_ggml_element *e, int d, int64_t at)
{
	lbx_ggml_some_at(e, d, at, 1);
}

static inline void lbx_ggml_all_of(const struct lbx_ggml_element *e, int d)
{
	lbx_ggml_some_at(e, d, 0, e->x->ne[d]);
}

/* None of it. */
static inline bool lbx_ggml_nothing(const struct lbx_ggml_element *e)
{
	return e->ret->nothing = true;
}

/* The same place; again and again, where the source is smaller. */
lbx_ggml_part_fn lbx_ggml_part_same;

/* ---- rows by number: numbered.c ---- */

/* A number of a source that has some; false where it cannot be read, or may not be what it was. */
bool lbx_ggml_number(const struct lbx_ggml_element *e, int source, int64_t i, int64_t *ret);

lbx_ggml_part_fn lbx_ggml_part_get_rows, lbx_ggml_part_set_rows, lbx_ggml_part_mul_mat_id;

/* ---- windows: windows.c ---- */

lbx_ggml_part_fn lbx_ggml_part_im2col, lbx_ggml_part_ssm_conv;

/* ---- what goes on from token to token: scans.c ---- */

lbx_ggml_part_fn lbx_ggml_part_ssm_scan, lbx_ggml_part_wkv6, lbx_ggml_part_wkv7, lbx_ggml_part_linear_attn,
    lbx_ggml_part_delta_net;

#endif
