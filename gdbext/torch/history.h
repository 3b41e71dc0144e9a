/* What tensors were computed by: as inspections see autograd's graph. A node whose result no tensor holds any more stands for it:
 * without a value, with a number beyond those of tensors. */
#ifndef LBX_TORCH_HISTORY_H
#define LBX_TORCH_HISTORY_H

#include "torch/set.h"

/* Of the set's tensors. False, with an error, without memory. */
bool lbx_torch_history_find(struct lbx_torch_set *s);
/* The node that computed a tensor; NULL: none is known. */
const struct lbx_torch_node *lbx_torch_history_node(struct lbx_torch_set *s, const struct lbx_torch_record *r);
/* Fills in what a tensor was computed by, if that is known. */
void lbx_torch_history_decode(struct lbx_torch_set *s, const struct lbx_torch_record *r, struct lbx_tensor *ret);
/* What stands for a node; false, quietly: there is none at that address, or of that number. */
bool lbx_torch_history_at(struct lbx_torch_set *s, uint64_t address, struct lbx_tensor *ret);
bool lbx_torch_history_by_id(struct lbx_torch_set *s, uint64_t id, struct lbx_tensor *ret);
/* The tensor, or the node that stands for one, that is input i of t: its address; 0: none is known. */
uint64_t lbx_torch_history_input(struct lbx_torch_set *s, const struct lbx_tensor *t, uint32_t i);
/* As `facts` of a provider, of a tensor's autograd. */
void lbx_torch_history_tell(struct lbx_torch_set *s, const struct lbx_torch_record *r, lbx_fact_fn *fn, void *context);

#endif
