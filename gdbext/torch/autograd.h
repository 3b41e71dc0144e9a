/* What autograd knows of a tensor: its torch::autograd::AutogradMeta, whose accessors' code tells where its fields are. */
#ifndef LBX_TORCH_AUTOGRAD_H
#define LBX_TORCH_AUTOGRAD_H

#include "target/loader.h"

/* In bytes; `function` 0: nothing is known. */
struct lbx_torch_autograd_layout {
	uint32_t gradient, function /* which computed it */;
	uint32_t requires; /* a byte; 0: it is not known */
};

struct lbx_torch_autograd {
	uint64_t gradient; /* a tensor, maybe the undefined one */
	uint64_t function; /* a node of the graph; 0: it is a leaf */
	uint64_t accumulator[2]; /* one of these, for a leaf: the node that adds to its gradient */
	int requires; /* whether a gradient is wanted; -1: it is not known */
};

/* As one such object's class tells; false, quietly, where it is none, or its code is not understood. */
bool lbx_torch_autograd_layout(struct lbx_target *target, const struct lbx_loaded *modules, int n, uint64_t object,
			       struct lbx_torch_autograd_layout *ret);
/* False, quietly, where it cannot be read. */
bool lbx_torch_autograd_read(struct lbx_target *target, const struct lbx_torch_autograd_layout *layout, uint64_t object,
			     struct lbx_torch_autograd *ret);

#endif
