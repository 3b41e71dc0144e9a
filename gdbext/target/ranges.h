/* The memory that a process may write, part by part. Of memory that is nobody else's, and no file's, what has never been
 * touched is left out: it reads as zeros, there may be terabytes of it, and reading gives the process pages to hold. */
#ifndef LBX_RANGES_H
#define LBX_RANGES_H

#include <stdio.h>
#include <sys/types.h>

#include "target/target.h"

/* All 0 at first. */
struct lbx_ranges {
	FILE
	    *maps; /* /proc/PID/maps, behind the line of the mapping that [start, end) is; NULL: no walk is under way */
	int pagemap; /* or -1 */
	uint64_t start, end;
	struct lbx_target *reader; /* large allocations that a mapping begins with are passed over, by what it reads of
				    * them, before anybody looks at their pages; NULL: they are not */
	bool is_own; /* private, and of no file */
};

/* As lbx_target_range(). A walk goes on where it was if `from` is not before that. */
bool lbx_ranges_next(struct lbx_ranges *ranges, pid_t pid, uint64_t from, struct lbx_range *ret);
void lbx_ranges_close(struct lbx_ranges *ranges);

#endif
