/* The tensors of PyTorch, as a provider: of a program that nobody has prepared, in C++ or in Python. */
#ifndef LBX_TORCH_H
#define LBX_TORCH_H

#include "tensors/tensors.h"

struct lbx_python;

/* Whether one of the program's modules is PyTorch's, as far as that shows; quiet. */
bool lbx_torch_is_there(struct lbx_target *target);
/* False, without an error, where the program has no PyTorch; fails where it has one that cannot be read. The set is
 * closed by lbx_tensors_close(). A process is not held still for it: what could be copied of it within a moment is looked at,
 * and tensors that have changed at a second look are left out (lbx_target_changed()). One that is held still runs on from
 * there, if `let_go` (lbx_target_copy()). The search tells its progress in bytes; where that returns false it ends, and fails. */
bool lbx_torch_open(struct lbx_target *target, bool let_go, bool (*progress)(void *context, int64_t done),
		    void *context, struct lbx_tensors **ret);
/* Those alone that objects of Python are, by which they are asked for: without a search, numbers and names. False: it cannot be
 * done so, as where no version is known by what variables lead to; then all must be found. `py` must outlive it. */
bool lbx_torch_open_near(struct lbx_target *target, struct lbx_python *py, struct lbx_tensors **ret);

#endif
