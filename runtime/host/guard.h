/* Guarded copies of what raw pointers of strided views lead to; for debuggers. */
#ifndef LB_HOST_GUARD_H
#define LB_HOST_GUARD_H

#include "graph/tensor.h"

/* The pointer to hand out instead of lb_tensor_data(x), of a tensor that is ready: its bytes are the
 * same. Valid while x lives. The data itself where no copy can be had: guards are used up, the
 * storage is larger than a gigabyte, or the system refuses. */
const void *lb_guard(struct lb_tensor *x, const void *site);

#endif
