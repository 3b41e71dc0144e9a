#include "tensors/scope.h"

#include "base/error.h"

bool lbx_tensors_scope(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_scope *ret)
{
	return tensors->ops->scope && tensors->ops->scope(tensors, slot, ret);
}

size_t lbx_scope_items(const struct lbx_scope *scope, uint64_t first, uint64_t *ret, size_t n)
{
	bool clean = lb_ok();

	if (first >= scope->n)
		return 0;
	if (n > scope->n - first)
		n = (size_t)(scope->n - first);
	if (lbx_target_read(scope->of->target, scope->items + first * sizeof *ret, ret, n * sizeof *ret))
		return n;
	if (clean && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return 0;
}
