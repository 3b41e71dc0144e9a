#include "ggml/stores.h"

#include "base/error.h"
#include "base/vector.h"

bool lbx_ggml_stores_take(const struct lbx_ggml_extent *extents, size_t n, struct lbx_ggml_stores *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (!extents[i].writes || !extents[i].is_leaf)
			continue;
		if (!lb_reserve(ret->list, ret->room, ret->n + 1))
			return lb_fail("out of memory for %zu tensors of ggml", n);
		ret->list[ret->n++] = extents[i];
	}
	return true;
}
