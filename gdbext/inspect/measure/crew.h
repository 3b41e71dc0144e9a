/* Work cut into parts that all cores take in turn. */
#ifndef LBX_CREW_H
#define LBX_CREW_H

#include "inspect/out.h"

/* Rounds have an end, for a view that repeats its elements may claim to have any number of parts:
 * what is kept of part i has its place at i % LBX_CREW_ROUND. */
enum { LBX_CREW_ROUND = 1 << 12 };

struct lbx_crew {
	const char *doing;
	int64_t size, per_part; /* elements, say; for progress. The last part may be shorter. */
	/* Part i. Several threads call it at once, the calling one among them. It touches no output, and
	 * no target but a direct one; false: it has called lb_fail(). */
	bool (*work)(void *context, int64_t i);
	/* Part i is done; called in their order, by the calling thread. */
	void (*join)(void *context, int64_t i);
	void *context;
};

int64_t lbx_crew_parts(const struct lbx_crew *crew);
/* The calling thread alone tells progress. False when the user interrupts, and when a part fails, whose
 * error then is the calling thread's: parts that were begun are done then, others are not. */
bool lbx_crew_run(const struct lbx_crew *crew, struct lbx_out *out);

#endif
