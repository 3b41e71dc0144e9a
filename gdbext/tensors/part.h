/* Which elements of an input one element of a tensor is made of. */
#ifndef LBX_PART_H
#define LBX_PART_H

#include "tensors/tensor.h"

/* A range with a step along each axis of the input. */
struct lbx_part {
	bool nothing; /* none; or: */
	bool exact;   /* the element depends on all of these; otherwise on some of them */
	int64_t first[LB_MAX_RANK], count[LB_MAX_RANK], step[LB_MAX_RANK];
};

/* Of input i of t, for the element `at` (t->rank indices). False, without an error, where its set does not know. */
bool lbx_tensor_part(const struct lbx_tensor *t, const int64_t *at, uint32_t i, struct lbx_part *ret);

#endif
