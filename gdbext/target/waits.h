/* Threads, and for which word of memory each waits to change (futex(2)): that is how mutexes wait, and pthread_join(). */
#ifndef LBX_WAITS_H
#define LBX_WAITS_H

#include <sys/types.h>

#include "target/registers.h"

struct lbx_wait {
	uint64_t tid, address; /* of the word; 0: it does not wait so */
};

/* Of a process that runs, as the system tells; it is not held for it. Returns how many threads there are, `max` at most. */
int lbx_waits_of_process(pid_t pid, struct lbx_wait *ret, int max);
/* By registers, which do not tell whether a thread was in the kernel: these may wait, if they lie in a function that does. */
int lbx_waits_of_threads(const struct lbx_threads *threads, struct lbx_wait *ret, int max);

#endif
