/* Counts the lazy tensors, for a debugger that has set a limit to them. */
#ifndef LB_GRAPH_LAZY_H
#define LB_GRAPH_LAZY_H

#include <stdbool.h>
#include <stdint.h>

#include "publish/root.h"

struct lb_tensor;

/* Whether there is a limit: only then the functions below have something to do. */
static inline bool lb_lazy_limited(void)
{
	return __builtin_expect(__atomic_load_n(&lb_root->watch_graph, __ATOMIC_RELAXED) != UINT64_MAX, 0);
}

/* To be called for each tensor when it has been made. */
void lb_lazy_made(const struct lb_tensor *made);
/* For each that is lazy again, its value not kept. */
void lb_lazy_again(void);
/* When an evaluation has claimed n. True: they are more than the limit. */
bool lb_lazy_claimed(uint64_t n);
/* For a fork's child. */
void lb_lazy_after_fork(void);

#endif
