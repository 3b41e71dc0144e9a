/* LAZYBONES_COMPILE=check: some of the calls that a captured graph serves are traced again, and compared with it. A graph that
 * differs is stale: the function depends on what it was not given. */
#ifndef LB_COMPILE_CHECK_H
#define LB_COMPILE_CHECK_H

#include "compile/image.h"

enum { LB_STALE_TEXT = 512 };

/* How a later trace is another. */
struct lb_stale {
	uint64_t site; /* of the op that is; 0: none alone */
	char text[LB_STALE_TEXT];
};

/* By the environment, at the first call. */
bool lb_compile_checks(void);

/* Whether the hit of that number, from 1, is to be checked: the first ones, then fewer. */
bool lb_check_is_due(uint64_t hit);
/* A copy of an image that has not been fused. */
bool lb_image_copy(struct lb_image *ret, const struct lb_image *from);
/* Whether both were traced for inputs of the same sizes: graphs of a shapeless function may not. */
bool lb_image_is_comparable(const struct lb_image *was, const struct lb_image *now);
/* Whether both make the same of the same inputs; else *why becomes how `now`, of the later trace, is another. Small captured tensors are
 * evaluated for it. */
bool lb_image_is_alike(const struct lb_image *was, const struct lb_image *now, struct lb_stale *why);

#endif
