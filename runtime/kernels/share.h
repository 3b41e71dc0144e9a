/* Tasks that need scratch memory, shared among the cores. */
#ifndef LB_KERNELS_SHARE_H
#define LB_KERNELS_SHARE_H

#include "kernels/kernels.h"

/* Calls work(arg, scratch, task) for every task of [0, n), on as many cores as are worth it
 * when a core should have `grain` tasks at least. Each core has `nbytes` of scratch, 64-byte
 * aligned, that no other uses meanwhile. False when there is no memory. */
bool lb_share(struct lb_exec *exec, int64_t n, int64_t grain, int64_t nbytes,
	      void (*work)(void *arg, void *scratch, int64_t task), void *arg);

/* Like it, for a size that is a product of several: -1 if it does not fit. */
int64_t lb_bytes_of(int64_t a, int64_t b, int64_t width);

#endif
