/* Lines sorted by their elements' keys. Order: NaN last, -0 equal to 0, equals as they were. */
#ifndef LB_KERNELS_SORT_LINE_H
#define LB_KERNELS_SORT_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/tile.h"

/* n dense real elements, fewer than 2^32, sorted into `to`, which may be where they are. `room` holds 2n more of them.
 * Returns whether any is NaN. */
bool lb_sort_values(const struct lb_exec *exec, const struct lb_tiles *tiles, int dtype, int64_t n, const void *values,
		    void *to, void *room);
/* Indices of n dense elements of at most 4 bytes, n below 2^32, in the order of these. `room` holds 2n uint64_t.
 * Returns whether any element is NaN. */
bool lb_sort_indices(const struct lb_exec *exec, const struct lb_tiles *tiles, int dtype, int64_t n, const void *values,
		     uint32_t *to, uint64_t *room);

#endif
