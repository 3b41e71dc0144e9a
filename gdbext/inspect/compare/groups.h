/* What quantisation cost: the relative error of an array beside its reference, over all and by the
 * groups that share a scale. */
#ifndef LBX_GROUPS_H
#define LBX_GROUPS_H

#include "inspect/tensor/array.h"

struct lbx_groups {
	int64_t group, n;        /* elements of one, along the last axis; how many there are */
	double relative;         /* |a - b| / |b| by L2 norms, over all finite elements */
	double mean, worst;      /* of the groups' own; those where b is 0 are left out */
	int64_t worst_at;        /* row-major index of the worst group's first element; -1: none */
	int64_t over;            /* groups beyond a tenth */
	long double errors, squares; /* sums of squares */
	int64_t counted;
};

/* A group must be a power of two from 2 to 1024, and the last axis hold whole ones. */
bool lbx_groups(const struct lbx_array *a, const struct lbx_array *b, int64_t group, struct lbx_out *out,
		struct lbx_groups *ret);

#endif
