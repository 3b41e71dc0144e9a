/* How the tensors of PyTorch are found: the classes' virtual tables, all objects that lead to one, and the layout that fits
 * them. */
#ifndef LBX_TORCH_FIND_H
#define LBX_TORCH_FIND_H

#include "torch/set.h"

/* Fills a set that has a target with what may be tensors, also while the program runs. As lbx_torch_open() has it. */
bool lbx_torch_set_search(struct lbx_torch_set *s, bool (*progress)(void *context, int64_t done), void *context);
/* Finds the layout that fits a set's objects, and keeps those that are tensors. */
bool lbx_torch_set_decide(struct lbx_torch_set *s);
/* Likewise, with what they were computed by. */
bool lbx_torch_set_take(struct lbx_torch_set *s);

#endif
