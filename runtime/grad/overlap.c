#include "grad/overlap.h"

#include <stdlib.h>

/* From the smallest stride on, each must reach beyond all before it. */
bool lb_elements_differ(const struct lb_tensor *x)
{
	uint64_t reach = 0;
	if (x->size <= 1)
		return true;
	for (uint32_t left = (1u << x->rank) - 1; left;) {
		int next = -1;
		for (int i = 0; i < x->rank; i++) {
			if (left & 1u << i && (next < 0 || llabs(x->strides[i]) < llabs(x->strides[next])))
				next = i;
		}
		left &= ~(1u << next);
		uint64_t stride = (uint64_t)llabs(x->strides[next]);
		if (x->shape[next] == 1)
			continue;
		if (stride <= reach)
			return false;
		reach += (uint64_t)(x->shape[next] - 1) * stride;
	}
	return true;
}

struct lb_tensor *lb_own_elements(struct lb_tensor *x, const void *site)
{
	if (lb_elements_differ(x))
		return x;
	return lb_node(LB_OP_CONTIGUOUS, (enum lb_dtype)x->dtype, x->rank, x->shape, 1, &x, site);
}
