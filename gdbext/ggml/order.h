/* In which order nodes are computed: that of the graphs which hold them. Programs make them in another one. */
#ifndef LBX_GGML_ORDER_H
#define LBX_GGML_ORDER_H

#include "ggml/contexts.h"

/* ret[ordinal] becomes its place: another one of the same context's; tensors that are in no graph keep theirs, which is
 * the ordinal itself. `id_at` gives the number of the tensor at an address, its ordinal and one; 0: there is none. A
 * graph that makes no sense counts as not there. */
bool lbx_ggml_find_order(struct lbx_target *target, const struct lbx_ggml_contexts *contexts,
			 uint64_t (*id_at)(void *context, uint64_t address), void *context, uint32_t *ret);

#endif
