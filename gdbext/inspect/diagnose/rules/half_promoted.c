/* Half precision that a float32 operand makes float32: a constant, a mask, a default dtype. */
#include "inspect/diagnose/promotions.h"

static bool is_half(enum lb_dtype dtype)
{
	return dtype == LB_F16 || dtype == LB_BF16;
}

static bool widens(const struct lbx_tensor *t, const struct lbx_operand_kind *kinds, int n, int *ret_narrow,
		   int *ret_wide)
{
	*ret_narrow = *ret_wide = -1;
	for (int i = 0; i < n; i++) {
		if (is_half(kinds[i].dtype) && kinds[i].is_converted)
			*ret_narrow = i;
		else if (kinds[i].dtype == LB_F32 && !kinds[i].is_converted && !kinds[i].is_weak)
			*ret_wide = i;
	}
	return t->dtype == LB_F32 && *ret_narrow >= 0 && *ret_wide >= 0;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	lbx_promotions_take(c, state, t, widens);
	return true;
}

static bool conclude(struct lbx_case *c, void *state)
{
	return lbx_promotions_tell(
	    c, state, "twice what half precision takes",
	    "Give the other operand the tensor's dtype, or make it a scalar that takes it: lb_scalar(), a "
	    "number of Python's.");
}

const struct lbx_rule lbx_rule_half_promoted = {
	.id = "L5a",
	.name = "half-promoted",
	.title = "half precision that an operand makes float32",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "float16 or bfloat16 meets float32, and the result is float32, as is all that is computed from it: the\n"
	    "model runs in float32 from there on, without a word.",
	.example = "mask = lb_zeros(LB_SHAPE(n, n), LB_F32);     /* a default dtype */\n"
		   "scores = lb_add(scores, mask);               /* was float16 */",
	.demands =
	    "An operation gives float32; one operand was float16 or bfloat16 and was converted for it, another is\n"
	    "float32, and not a scalar that takes the other's dtype. Low where the runtime does not tell whether\n"
	    "the program has asked for the conversion (MLX).",
	.cure =
	    "lb_scalar(2.0), or Python's 2.0, for constants; the dtype of the tensor for masks and zeros; astype()\n"
	    "where it is meant.",
	.state = sizeof(struct lbx_promotions),
	.tensor = see,
	.conclude = conclude,
};
