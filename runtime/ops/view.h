/* Views, and the part of a tensor that a list of indices cuts out. */
#ifndef LB_OPS_VIEW_H
#define LB_OPS_VIEW_H

#include "graph/tensor.h"

/* A tensor over x's elements: strides in elements, offset relative to x's element 0. */
struct lb_tensor *lb_view_node(int op, struct lb_tensor *x, int rank, const int64_t *shape, const int64_t *strides,
			       int64_t offset, const void *site);

/* Of row-major `all`, in which several results lie one after another, the one of this shape that begins at *offset, which
 * moves on. */
struct lb_tensor *lb_view_part(struct lb_tensor *all, int rank, const int64_t *shape, int64_t *offset,
			       const void *site);

/* What an operation with nothing to do gives for x: x, or, if it has a name, a view of it, so
 * that lb_named() of the result names the result alone. */
struct lb_tensor *lb_untouched(struct lb_tensor *x, const void *site);

/* x as a tensor of its own, that is computed after the n others: a `depends` node. */
struct lb_tensor *lb_depends_node(struct lb_tensor *x, int n, struct lb_tensor *const *on, const void *site);

struct lb_cut {
	/* as a view: what LB_AT takes is gone, LB_NEW_AXIS has come */
	int rank;
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK], offset;
	/* along x's own axes; where there is at most one element the step is 1 */
	int64_t first[LB_MAX_RANK], steps[LB_MAX_RANK], counts[LB_MAX_RANK];
};

/* Messages begin with `op`. */
bool lb_cut_out(const char *op, const struct lb_tensor *x, int n, const lb_index *index, struct lb_cut *ret);

#endif
