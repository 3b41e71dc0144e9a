/* Which elements of its inputs one element of a tensor is made of: needs.h for a region of one
 * element, and closer where what is computed at once is more than what its value depends on. */
#ifndef LBX_SOURCES_H
#define LBX_SOURCES_H

#include "inspect/replay/needs.h"

/* Of one input. */
struct lbx_source {
	bool nothing; /* or: */
	bool exact;   /* the element depends on all of the region; otherwise perhaps on some of it */
	struct lbx_region region; /* not set of an input without elements */
};

/* The input whose element chooses what is taken of the others, a condition or an index; or -1. */
int lbx_chooser(int op);
/* For the element `at` of a node, whose op may be -1 (not known): one source for each input.
 * `choice` is the element of the chooser as an integer; NULL: none, or not known. */
void lbx_sources_of(const struct lbx_graph *graph, uint32_t node, int op, const int64_t *at,
		    const int64_t *choice, struct lbx_source *ret);

#endif
