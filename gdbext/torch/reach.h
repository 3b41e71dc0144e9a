/* A part of autograd's graph: what some of its nodes lead to, and the tensors that these keep for the way back, as far as they
 * have them in themselves. */
#ifndef LBX_TORCH_REACH_H
#define LBX_TORCH_REACH_H

#include "torch/set.h"

struct lbx_torch_reach {
	struct lbx_torch_set *s;
	uint32_t part, *seen, *kept; /* in which part a node, or a tensor, was seen last */
	uint32_t *nodes, *tensors; /* of this part, by number from 0 on */
	uint64_t n, n_tensors;
	uint64_t n_leaves; /* nodes that add to a leaf's gradient */
};

/* Whether a node keeps the tensor of a number, from 0 on, or adds to its gradient. */
bool lbx_torch_is_kept(struct lbx_torch_set *s, size_t number);

/* False, with an error, without memory; lbx_torch_reach_deinit() all the same. */
bool lbx_torch_reach_init(struct lbx_torch_reach *reach, struct lbx_torch_set *s);
void lbx_torch_reach_deinit(struct lbx_torch_reach *reach);
/* Begins another part, which is empty. */
void lbx_torch_reach_begin(struct lbx_torch_reach *reach);
/* Adds a node, and all that it leads to. */
void lbx_torch_reach_walk(struct lbx_torch_reach *reach, const struct lbx_torch_node *node);

#endif
