/* The tensors of PyTorch, as a provider: of a program that nobody has prepared, in C++ or in Python. */
#ifndef LBX_TORCH_H
#define LBX_TORCH_H

#include "target/stacks.h"
#include "tensors/tensors.h"

/* Whether one of the program's modules is PyTorch's, as far as that shows; quiet. */
bool lbx_torch_is_there(struct lbx_target *target);
/* False, without an error, where the program has no PyTorch; fails where it has one that cannot be read. The set is
 * closed by lbx_tensors_close(). A process that runs stands still once its memory has been searched, if its `stacks` are
 * known: what a tensor leads to may be gone in a moment. The search tells its progress in bytes; where that returns false it ends, and fails. */
bool lbx_torch_open(struct lbx_target *target, struct lbx_stacks *stacks, bool (*progress)(void *context, int64_t done),
		    void *context, struct lbx_tensors **ret);

#endif
