/* Numbers as e4m3 codes: a dtype of its own elsewhere, bytes here, as in MLX. */
#include "kernels/model.h"
#include "ops/operation.h"

lb_tensor *lb_to_fp8(lb_tensor *x)
{
	LB_ENTER();
	if (!LB_GIVEN("to_fp8", x))
		return NULL;
	if (!lb_dtype_is_float(x->dtype)) {
		lb_fail("to_fp8: of floating dtypes, not %s", lb_dtypes[x->dtype].name);
		return NULL;
	}
	return lb_node(LB_OP_TO_FP8, LB_U8, x->rank, x->shape, 1, &x, site);
}

lb_tensor *lb_from_fp8(lb_tensor *x, lb_dtype dtype)
{
	LB_ENTER();
	if (!LB_GIVEN("from_fp8", x))
		return NULL;
	if ((unsigned)dtype >= LB_DTYPES || !lb_dtype_is_float((int)dtype) || x->dtype != LB_U8) {
		lb_fail("from_fp8: codes are uint8, not %s, and become a floating dtype, not %s",
			lb_dtypes[x->dtype].name,
			(unsigned)dtype < LB_DTYPES ? lb_dtypes[dtype].name : "one that there is not");
		return NULL;
	}
	return lb_node(LB_OP_FROM_FP8, dtype, x->rank, x->shape, 1, &x, site);
}

struct lb_tensor *lb_remake_to_fp8(const struct lb_recipe *r)
{
	return lb_to_fp8(r->x[0]);
}

struct lb_tensor *lb_remake_from_fp8(const struct lb_recipe *r)
{
	return lb_from_fp8(r->x[0], r->dtype);
}

bool lb_compute_fp8(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0);
	return lb_kernel_fp8(exec, &x, (enum lb_dtype)t->dtype, lb_tensor_data(t));
}
