/* Tensors that have some element at more than one place: what was broadcast, or strided over itself.
 *
 * A view keeps no record of how it was made but its strides. They tell which elements of its input
 * it shows as long as no two of these lie at one place in memory; otherwise several answers fit.
 * Any of them is right for the sum that arrives where the elements do differ, and that is at
 * every tensor that is computed. Where cotangents themselves are looked at (the inputs of a
 * transformed function, the results of one with a rule of its own), tensors are made to differ. */
#ifndef LB_GRAD_OVERLAP_H
#define LB_GRAD_OVERLAP_H

#include "graph/tensor.h"

/* Every element has a place of its own. False may also mean that it takes long to tell. */
bool lb_elements_differ(const struct lb_tensor *x);
/* x, or a copy in which they do. */
struct lb_tensor *lb_own_elements(struct lb_tensor *x, const void *site);

#endif
