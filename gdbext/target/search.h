/* Finding what may lie anywhere in a program's data: all that the program may write is gone through once, in pieces. */
#ifndef LBX_SEARCH_H
#define LBX_SEARCH_H

#include "target/target.h"

struct lbx_search {
	size_t bytes; /* of what is sought, so that each lies whole in some piece */
	/* Looks at n bytes that were read at an address: a piece, with as much behind it as what is sought may reach. What
	 * cannot be read of them is 0. False ends the search. */
	bool (*look)(void *context, const char *bytes, size_t n, uint64_t address);
	void *context;
	bool is_thorough; /* what lbx_search() passes over is gone through, too */
	bool (*progress)(void *context, int64_t done); /* of so many bytes; false ends the search; or NULL */
	void *progress_context;
};

/* Large allocations, and threads' stacks, are passed over: what is sought is a small allocation, or a variable. False: it
 * was ended, or, with an error, there is no memory. */
bool lbx_search(struct lbx_target *target, const struct lbx_search *search);

#endif
