#include "inspect/compare/exchanged.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"

static const double rtol = 1e-4, of_largest = 1e-5; /* sums in another order */

/* Of one side's operands, computed anew, beside the other. */
static bool is_other(struct lbx_context *context, const struct lbx_operand *product, const struct lbx_array *other,
		     double size, struct lbx_comparison *ret)
{
	struct lbx_tolerance tolerance = { .rtol = rtol, .atol = of_largest * size, .level = 0 };
	struct lbx_operand turned;

	if (!product->exchanged[0] || !lbx_operand_tensor(context, product->exchanged, &turned))
		return false;
	bool is = turned.array.size == other->size &&
		  lbx_compare(&turned.array, other, &tolerance, NULL, context->out, ret) && ret->far == 0;
	lbx_operand_release(&turned);
	return is;
}

bool lbx_explain_exchanged(struct lbx_context *context, const struct lbx_operand *a, const struct lbx_operand *b,
			   const struct lbx_comparison *comparison, struct lbx_explanations *ret)
{
	/* the largest difference tells how large the values are, of what has little to do with each other */
	double size = isfinite(comparison->max) ? comparison->max : 0;
	struct lbx_comparison c;

	for (int i = 0; i < 2; i++) {
		const struct lbx_operand *product = i ? b : a, *other = i ? a : b;
		if (product->context.target || !is_other(context, product, &other->array, size, &c)) {
			if (lb_error_cause() == LB_INTERRUPTED)
				return false;
			lb_clear_error();
			continue;
		}
		struct lbx_explanation *x = &ret->list[ret->n++];
		*x = (struct lbx_explanation){ .kind = "exchanged",
					       .covered = c.count,
					       .agree = c.count - c.far,
					       .exact = c.count - c.different,
					       .before = comparison->count - comparison->far,
					       .rtol = rtol,
					       .atol = of_largest * size };
		snprintf(x->text, sizeof x->text,
			 "the %s is the %s's product with its operands exchanged: %s @ %s, not %s @ %s",
			 i ? "first" : "second", i ? "second" : "first", product->factors[1], product->factors[0],
			 product->factors[0], product->factors[1]);
		return true;
	}
	return true;
}
