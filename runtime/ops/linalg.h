/* The results of a decomposition, which lie one after another. */
#ifndef LB_OPS_LINALG_H
#define LB_OPS_LINALG_H

#include "graph/tensor.h"

/* How many there are of x, 3 at most, and the elements of each. */
int lb_linalg_parts(int op, const struct lb_tensor *x, bool has_vectors, int64_t sizes[3]);

#endif
