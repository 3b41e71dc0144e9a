/* Axes of tensors that have more of them than a record holds. Each different layout is kept once, so that a
 * tensor stays small and may be copied. */
#ifndef LBX_AXES_H
#define LBX_AXES_H

#include "tensors/tensor.h"

struct lbx_axes;

/* Gives t these axes. More than LB_MAX_RANK are kept in *axes, which is made when it is first needed and
 * belongs to the caller: t, and its copies, may be used until it is destroyed. Fails for more than
 * LBX_RANK_MAX, and where too many different layouts are kept already. */
bool lbx_tensor_set_axes(struct lbx_axes **axes, struct lbx_tensor *t, int rank, const int64_t *shape,
			 const int64_t *strides);
/* NULL is fine. */
void lbx_axes_destroy(struct lbx_axes *axes);

#endif
