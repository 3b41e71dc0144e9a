/* Which part of its inputs an operation needs for a part of its result: what lb_op_needs says of
 * the operation (runtime/ops.def), for one tensor. Where a record's claims do not fit together, it
 * needs all: the replay then says what is wrong. */
#ifndef LBX_NEEDS_H
#define LBX_NEEDS_H

#include "inspect/graph/graph.h"
#include "inspect/replay/region.h"

/* Of one input. */
struct lbx_need {
	bool nothing; /* or: */
	bool all;     /* and in the layout that it has, on which the order of sums may depend */
	bool dense;   /* in row-major order: otherwise any layout will do */
	struct lbx_region region;
};

/* Whether the region of the node's tensor can be computed from parts of its inputs, except perhaps for its last
 * bits. The region becomes what is then computed at once, which may be a little more. */
bool lbx_comes_from_part(const struct lbx_graph *graph, uint32_t node, int op, struct lbx_region *region);
/* Whether it can, to the last bit. */
bool lbx_needs_part(const struct lbx_graph *graph, uint32_t node, int op, struct lbx_region *region);
/* What of input i that region needs. *at is 0 for the first input, and belongs to this function. */
void lbx_need_of(const struct lbx_graph *graph, uint32_t node, int op, uint32_t i, const struct lbx_region *region,
		 int64_t *at, struct lbx_need *ret);
/* The parameters with which the operation gives the region. */
void lbx_narrow_params(const struct lbx_tensor *t, int op, const struct lbx_region *region, int64_t params[LB_PARAMS]);

/* The operation's number in this build, or -1. It is the `op` of the others, and not -1 there. */
int lbx_op_number(const struct lbx_tensor *t);

#endif
