/* Creation stacks: each different one is kept once, in a depot that the symbol table
 * exports. Off by default; the switch is the root's `want_stack` (LAZYBONES_STACKS, or a
 * debugger). */
#ifndef LB_PUBLISH_STACKS_H
#define LB_PUBLISH_STACKS_H

#include "publish/root.h"

/* Place of the calling stack in the depot, from the frame that `site` returns to outwards; 0 if
 * it could not be had or the depot is full. */
uint32_t lb_stack_capture(const void *site, uint32_t depth);

/* fork() must find the depot whole: called around it. */
void lb_stacks_lock(void);
void lb_stacks_unlock(void);

static inline uint32_t lb_stack_here(const void *site)
{
	uint32_t depth = __atomic_load_n(&lb_root->want_stack, __ATOMIC_RELAXED);
	return __builtin_expect(depth != 0, 0) ? lb_stack_capture(site, depth) : 0;
}

#endif
