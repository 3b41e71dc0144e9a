/* Which ready tensors hold NaN or Inf. An input that holds -Inf and neither of the others, as a mask of attention does,
 * is not told as one of them, nor what has its -Inf from such a one. */
#ifndef LBX_NONFINITE_H
#define LBX_NONFINITE_H

#include "inspect/findings.h"
#include "inspect/measure/summary.h"
#include "inspect/tensor/describe.h"

struct lbx_nonfinite {
	uint64_t searched, skipped; /* tensors; skipped: no time for them, or unreadable */
	uint64_t bytes;
	uint64_t first; /* id of the bad one that was computed first; 0: none */
	uint64_t masked; /* which -Inf was put into: inputs, and what was made of these; none of the bad */
	char mask[LBX_DESCRIPTION_MAX]; /* the first of those */
};

/* Of each tensor that is looked at, its statistics. True if it is to be told of where it holds NaN or Inf. */
typedef bool lbx_look(void *arg, const struct lbx_tensor *t, const struct lbx_summary *summary);

/* Looks at floating tensors in the order in which they were computed, for `seconds` at most; but first, of a program that
 * stands still, at those that an evaluation under way has computed. A
 * view is left out when the tensor that it is a view of is looked at. `look` may be NULL. */
bool lbx_find_nonfinite(struct lbx_context *context, double seconds, lbx_look *look, void *arg,
			struct lbx_findings *findings, struct lbx_nonfinite *ret);

#endif
