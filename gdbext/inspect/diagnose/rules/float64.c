/* Arithmetic in float64, which nobody may have asked for: one float64 operand makes all that is computed from it float64. */
#include "inspect/diagnose/promotions.h"

static bool is_narrow(enum lb_dtype dtype)
{
	return dtype == LB_F16 || dtype == LB_BF16 || dtype == LB_F32;
}

static bool widens(const struct lbx_tensor *t, const struct lbx_operand_kind *kinds, int n, int *ret_narrow,
		   int *ret_wide)
{
	*ret_narrow = *ret_wide = -1;
	for (int i = 0; i < n; i++) {
		if (is_narrow(kinds[i].dtype) && kinds[i].is_converted)
			*ret_narrow = i;
		else if (kinds[i].dtype == LB_F64 && !kinds[i].is_weak)
			*ret_wide = i;
	}
	return t->dtype == LB_F64 && *ret_narrow >= 0 && *ret_wide >= 0;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	lbx_promotions_take(c, state, t, widens);
	return true;
}

static bool conclude(struct lbx_case *c, void *state)
{
	return lbx_promotions_tell(c, state, "twice what float32 takes, and half its speed",
				   "Make that operand float32, or a scalar, which takes the tensor's dtype.");
}

const struct lbx_rule lbx_rule_float64 = {
	.id = "L5c",
	.name = "float64",
	.title = "a float64 operand that makes other arithmetic float64",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "A constant or an array that came from NumPy or a double makes the result float64, and so all that is\n"
	    "computed from it: twice the memory, half the speed, and no device that would take it.",
	.example = "lb_tensor *scale = lb_full(LB_SHAPE(1), 0.5, LB_F64);\n"
		   "y = lb_multiply(x, scale);    /* x is float32, y is float64 */",
	.demands =
	    "An operation gives float64, one of its operands is float64, and another is a narrower float that was\n"
	    "converted for it. A program that computes in float64 throughout is not meant.",
	.cure = "lb_scalar(0.5), which takes the other operand's dtype; or astype() where the value comes in.",
	.state = sizeof(struct lbx_promotions),
	.tensor = see,
	.conclude = conclude,
};
