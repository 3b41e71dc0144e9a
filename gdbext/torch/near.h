/* The tensors that Python's variables lead to directly, without a search for all. */
#ifndef LBX_TORCH_NEAR_H
#define LBX_TORCH_NEAR_H

#include "python/python.h"
#include "torch/set.h"

/* The layout that fits all tensors of the variables of what runs, if it is a known version's. False, quietly: they are too few to
 * tell, or not of one. Then, and only then, who wants to know must search. The set has a target and modules. */
bool lbx_torch_near_find(struct lbx_torch_set *s, struct lbx_python *py);
/* The tensor that an object of Python's is; each knows the other. False, quietly: it is none. */
bool lbx_torch_near_by_object(struct lbx_torch_set *s, uint64_t object, struct lbx_tensor *ret);

#endif
