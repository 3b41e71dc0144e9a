/* Asking for what will be read soon. */
#ifndef LB_KERNELS_PREFETCH_H
#define LB_KERNELS_PREFETCH_H

#include <stddef.h>

/* A line for each 64 bytes: the next row, most often, which a processor does not foresee across pages. It need not be
 * memory. To the L2 cache: what lies powers of two apart has few places in the first, and what waits for memory to come there
 * takes the place of what is read now (Zen 4: norms 1.4 times as long). */
static inline void lb_prefetch(const void *from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 64)
		__builtin_prefetch((const char *)from + at, 0, 2);
}

#endif
