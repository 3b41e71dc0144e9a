/* Indices out of tensors, checked by the calling thread, whose error message it would be. */
#ifndef LB_KERNELS_INDICES_H
#define LB_KERNELS_INDICES_H

#include "kernels/kernels.h"

/* The indices in row-major order as int64, non-negative and below `size`; in scratch memory. NULL
 * when one is out of range, which the message says of `axis`. */
const int64_t *lb_read_indices(struct lb_exec *exec, const char *op, const struct lb_view *indices, int axis,
			       int64_t size);

/* The next n of them, from the element `index` on, which moves along; n is at most LB_INDICES_MOST. False when one is
 * out of range: lb_read_indices() says which. Any thread may ask. */
enum { LB_INDICES_MOST = 512 };
bool lb_next_indices(const struct lb_view *indices, int64_t *index, int64_t n, int64_t size, int64_t *to);

#endif
