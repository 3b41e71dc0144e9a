/* What those who know PyTorch ask of it, in its own terms. */
#ifndef LBX_TORCH_FACTS_H
#define LBX_TORCH_FACTS_H

#include "torch/set.h"

void lbx_torch_tell_record(struct lbx_torch_set *s, const struct lbx_torch_record *r, lbx_fact_fn *fn, void *context);
void lbx_torch_tell_set(struct lbx_torch_set *s, lbx_fact_fn *fn, void *context);

#endif
