/* What nodes write into tensors that no operation computes: caches, states. */
#ifndef LBX_GGML_STORES_H
#define LBX_GGML_STORES_H

#include "ggml/reuse.h"

struct lbx_ggml_stores {
	struct lbx_ggml_extent *list; /* to be freed */
	size_t n, room;
};

/* Those of all extents that are. */
bool lbx_ggml_stores_take(const struct lbx_ggml_extent *extents, size_t n, struct lbx_ggml_stores *ret);

#endif
