/* Tensors that are made of others: sparse ones of their indices and values, nested ones of the sizes of what lies in their
 * storage, which are tensors of their own. */
#ifndef LBX_TORCH_PARTS_H
#define LBX_TORCH_PARTS_H

#include "torch/set.h"

/* A fact for each part: "indices", "#12". */
void lbx_torch_parts_tell(struct lbx_torch_set *s, const struct lbx_torch_record *r, lbx_fact_fn *fn, void *context);

#endif
