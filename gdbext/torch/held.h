/* Who holds a tensor of a Python program (tensors/held.h). */
#ifndef LBX_TORCH_HELD_H
#define LBX_TORCH_HELD_H

#include "torch/set.h"

/* Whether a variable leads to it, also as to the gradient of another. */
bool lbx_torch_is_reached(struct lbx_torch_set *s, const struct lbx_torch_record *r);
/* *ret is all 0. */
void lbx_torch_held_tell(struct lbx_torch_set *s, const struct lbx_torch_record *r, struct lbx_held *ret);
/* As `facts` of a provider. */
void lbx_torch_holder_fact(struct lbx_torch_set *s, const struct lbx_torch_record *r, lbx_fact_fn *fn, void *context);

#endif
