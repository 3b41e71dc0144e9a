/* x again, as a tensor of its own that says something of how it is computed or differentiated. */
#include <stdlib.h>
#include <string.h>

#include "graph/tensor.h"
#include "ops/view.h"

struct lb_tensor *lb_depends_node(struct lb_tensor *x, int n, struct lb_tensor *const *on, const void *site)
{
	struct lb_tensor *few[1 + LB_MAX_RANK], **all = few;
	if (n > LB_MAX_RANK && !(all = malloc(((size_t)n + 1) * sizeof *all))) {
		lb_fail("depends: out of memory for %d tensors", n);
		return NULL;
	}
	all[0] = x;
	if (n)
		memcpy(all + 1, on, (size_t)n * sizeof *all);
	struct lb_tensor *t =
	    lb_tensor_begin(LB_OP_DEPENDS, (enum lb_dtype)x->dtype, x->rank, x->shape, n + 1, all, site);
	if (t) {
		memcpy(t->strides, x->strides, sizeof t->strides);
		t->offset = x->offset;
	}
	if (all != few)
		free(all);
	return lb_tensor_publish(t);
}

lb_tensor *lb_stop_gradient(lb_tensor *x)
{
	LB_ENTER();
	if (!LB_GIVEN("stop_gradient", x))
		return NULL;
	struct lb_tensor *t =
	    lb_tensor_begin(LB_OP_STOP_GRADIENT, (enum lb_dtype)x->dtype, x->rank, x->shape, 1, &x, site);
	if (t) {
		memcpy(t->strides, x->strides, sizeof t->strides);
		t->offset = x->offset;
	}
	return lb_tensor_publish(t);
}

lb_tensor *lb_depends(lb_tensor *x, int n, lb_tensor *const *on)
{
	LB_ENTER();
	if (!LB_GIVEN("depends", x))
		return NULL;
	if (n < 0)
		lb_fail("depends: a list of %d tensors", n);
	if (n < 0 || !LB_GIVEN_LIST("depends", n, on))
		return NULL;
	for (int i = 0; i < n; i++) {
		if (!on[i]) {
			lb_fail_null_at("depends", i, n);
			return NULL;
		}
	}
	return lb_depends_node(x, n, on, site);
}
