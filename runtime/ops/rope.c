#include <math.h>

#include "graph/shape.h"
#include "graph/tensor.h"
#include "kernels/model.h"
#include "ops/operation.h"

/* params: 0 dims, negative when traditional; 1 base, 2 scale, 3 offset */
lb_tensor *lb_rope(lb_tensor *x, int64_t dims, bool traditional, double base, double scale, int64_t offset)
{
	LB_ENTER();
	if (!LB_GIVEN("rope", x))
		return NULL;
	char text[LB_SHAPE_TEXT];
	if (x->rank < 2) {
		lb_fail("rope: x %s must have two axes at least: (…, positions, features)",
			lb_shape_text(x->rank, x->shape, text));
		return NULL;
	}
	if (!lb_dtype_is_float(x->dtype)) {
		lb_fail("rope: not defined for %s; cast with lb_astype() to a floating dtype",
			lb_dtypes[x->dtype].name);
		return NULL;
	}
	if (dims < 2 || dims % 2 || dims > x->shape[x->rank - 1]) {
		lb_fail("rope: dims must be even, and from 2 to the last axis of x %s, not %lld",
			lb_shape_text(x->rank, x->shape, text), (long long)dims);
		return NULL;
	}
	if (!(base > 0) || !isfinite(base) || !isfinite(scale)) {
		lb_fail("rope: base %g must be positive, and scale %g finite", base, scale);
		return NULL;
	}
	struct lb_tensor *t = lb_tensor_begin(LB_OP_ROPE, (enum lb_dtype)x->dtype, x->rank, x->shape, 1, &x, site);
	if (t) {
		t->params[0] = traditional ? -dims : dims;
		lb_param_set_double(t, 1, base);
		lb_param_set_double(t, 2, scale);
		t->params[3] = offset;
	}
	return lb_tensor_publish(t);
}

struct lb_tensor *lb_remake_rope(const struct lb_recipe *r)
{
	int64_t dims = r->params[0] == INT64_MIN ? 0 : r->params[0];
	return lb_rope(r->x[0], dims < 0 ? -dims : dims, dims < 0, lb_recipe_double(r, 1), lb_recipe_double(r, 2),
		       r->params[3]);
}

bool lb_compute_rope(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0);
	struct lb_rope rope = {
		.dims = t->params[0] < 0 ? -t->params[0] : t->params[0],
		.traditional = t->params[0] < 0,
		.base = lb_param_double(t, 1),
		.scale = lb_param_double(t, 2),
		.offset = t->params[3],
	};
	return lb_kernel_rope(exec, &x, &rope, lb_tensor_data(t));
}
