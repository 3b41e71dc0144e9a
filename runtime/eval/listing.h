/* A schedule written down as a listing (symtab.h): the ops in the order in which they run. */
#ifndef LB_EVAL_LISTING_H
#define LB_EVAL_LISTING_H

#include "eval/schedule.h"

/* What a call of the code computes. */
struct lb_call {
	uint32_t step; /* of the schedule: a single op, or the head of a group */
	uint32_t line; /* in the listing, from 1; of a chain, its last */
	int32_t insn;  /* of a fused tensor's program; -1: the whole step */
};

struct lb_listed {
	struct lb_listing *listing; /* in the schedule's arena, like the rest */
	struct lb_call *calls;      /* listing->n_calls of them */
	/* id of each line's tensor, 0 inside a program; then of each from outside, 0 for a constant */
	uint64_t *tensors;
	char refusal[LB_FLIGHT_TEXT_BYTES]; /* why the schedule is not stepped through */
};

/* `apart`: each instruction of a fused tensor has a call of its own. False, with a refusal, when
 * memory is out (which is an error, too) or the listing would be too long. */
bool lb_listing_build(const struct lb_schedule *s, bool apart, struct lb_listed *ret);

/* Site, op, dtype, shape, and what a constant's elements are. */
void lb_listing_describe(struct lb_listing_line *line, const struct lb_tensor *t);

#endif
