/* Reading untrusted files in a child process with limits, whose death is an answer too. */
#ifndef LBX_GUARD_H
#define LBX_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct lbx_limits {
	int64_t memory;  /* bytes of the child's own; mapped files do not count */
	int64_t seconds; /* of processor time, of all its threads together */
};

/* Runs body in a child and returns what it returned, an exit status. False, saying why, when
 * the child was killed, by a limit, by the kernel, or by a fault in this program. */
bool lbx_guard(const struct lbx_limits *limits, const char *what, int (*body)(void *context), void *context, int *ret);
/* For the child that has run out of memory: some is left for its last words. */
void lbx_guard_lift_memory(void);

#endif
