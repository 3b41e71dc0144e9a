/* Unsigned keys in ascending order, the same whatever the instruction set and the number of cores. */
#ifndef LB_KERNELS_RADIX_H
#define LB_KERNELS_RADIX_H

#include <stdint.h>

#include "kernels/tile.h"

/* n keys of so many bytes, to and fro between two memories: returns which of them has the result. n is below 2^32. */
void *lb_sort_keys(const struct lb_exec *exec, const struct lb_tiles *tiles, int bytes, int64_t n, void *keys,
		   void *other);
/* The same of keys whose lower 32 bits rise from one to the next, and do not count. */
uint64_t *lb_sort_keys_above(const struct lb_exec *exec, const struct lb_tiles *tiles, int64_t n, uint64_t *keys,
			     uint64_t *other);

#endif
