/* Whether a tensor's value can be read, and what the tensor is for. */
#ifndef LBX_GGML_STATES_H
#define LBX_GGML_STATES_H

#include "ggml/set.h"

/* Sets state, usage and memory of ret, which is tensor `id`, r, and lies in root. */
void lbx_ggml_set_state(struct lbx_ggml_set *g, const struct lbx_ggml_record *r, const struct lbx_ggml_record *root,
			uint64_t id, struct lbx_tensor *ret);

#endif
