/* Which elements of its inputs one element of a tensor is made of: needs.h for a region of one
 * element, and closer where what is computed at once is more than what its value depends on. */
#ifndef LBX_SOURCES_H
#define LBX_SOURCES_H

#include "inspect/replay/needs.h"

/* Of one input. */
struct lbx_source {
	bool nothing; /* or: */
	bool exact;   /* the element depends on all of the region; otherwise on some of it, */
	bool perhaps; /* or on nothing */
	bool has_wider; /* it may depend on some of `wider`, too */
	struct lbx_region region, wider; /* not set of an input without elements */
};

/* What the chooser says. */
struct lbx_choice {
	int64_t value; /* the first element of its region, as an integer */
	/* of indices, if they choose where elements go: how many lead to the element, and which of the
	 * region are the first and the last of these */
	int64_t n, first, last;
};

/* The input that chooses what is taken of the others, a condition or indices; or -1. */
int lbx_chooser(int op);
/* Whether its elements say where others go, along the axis of parameter 0. */
bool lbx_chooses_places(int op);
/* For the element `at` of a node, whose op may be -1 (not known): one source for each input.
 * `choice` may be NULL: none, or not known. */
void lbx_sources_of(const struct lbx_graph *graph, uint32_t node, int op, const int64_t *at,
		    const struct lbx_choice *choice, struct lbx_source *ret);

#endif
