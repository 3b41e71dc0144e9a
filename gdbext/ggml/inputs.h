/* What a node is computed from, if that still is what it was when the node ran. */
#ifndef LBX_GGML_INPUTS_H
#define LBX_GGML_INPUTS_H

#include "ggml/set.h"

/* The node that t is, whose inputs r has, as recipes want it. Fails where one of them has been written since, or may
 * have been. */
bool lbx_ggml_node_of(struct lbx_ggml_set *g, const struct lbx_tensor *t, struct lbx_recipe *r,
		      struct lbx_ggml_node *ret);

#endif
