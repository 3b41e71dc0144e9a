/* float16 meets bfloat16: neither can hold the other, so both become float32. */
#include "inspect/diagnose/promotions.h"

static bool widens(const struct lbx_tensor *t, const struct lbx_operand_kind *kinds, int n, int *ret_narrow,
		   int *ret_wide)
{
	*ret_narrow = *ret_wide = -1;
	for (int i = 0; i < n; i++) {
		if (kinds[i].dtype == LB_F16)
			*ret_narrow = i;
		else if (kinds[i].dtype == LB_BF16)
			*ret_wide = i;
	}
	return t->dtype == LB_F32 && *ret_narrow >= 0 && *ret_wide >= 0 && kinds[*ret_narrow].is_converted &&
	       kinds[*ret_wide].is_converted;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	lbx_promotions_take(c, state, t, widens);
	return true;
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct lbx_promotions *p = state;

	for (int i = 0; i < p->n; i++) /* nobody asks for both */
		p->list[i].is_certain = true;
	return lbx_promotions_tell(c, p, "twice what either takes",
				   "Choose one of the two, and convert what comes in.");
}

const struct lbx_rule lbx_rule_mixed_halves = {
	.id = "L5b",
	.name = "mixed-halves",
	.title = "float16 meets bfloat16, and both become float32",
	.sees = LBX_SEES_TENSORS,
	.meaning = "Neither of the two can hold the other's values, so the result is float32, as is all behind it.",
	.example = "c = lb_multiply(lb_astype(x, LB_BF16), lb_astype(y, LB_F16));",
	.demands =
	    "An operation gives float32 of an operand that was float16 and one that was bfloat16, both converted\n"
	    "for it.",
	.cure = "Keep to one half precision: convert weights or inputs where they are loaded.",
	.state = sizeof(struct lbx_promotions),
	.tensor = see,
	.conclude = conclude,
};
