#include "tensors/doubt.h"

#include "tensors/recipe.h"

/* Whether each way to compute it gives the same bits: elements that are moved, and operations that are rounded once. */
static bool is_rounded_once(int op)
{
	switch (op) {
	case LB_OP_NEGATIVE:
	case LB_OP_ABS:
	case LB_OP_SQRT:
	case LB_OP_SQUARE:
	case LB_OP_SIGN:
	case LB_OP_REAL:
	case LB_OP_IMAG:
	case LB_OP_CONJUGATE:
	case LB_OP_FLOOR:
	case LB_OP_CEIL:
	case LB_OP_ROUND:
	case LB_OP_ASTYPE:
	case LB_OP_ADD:
	case LB_OP_SUBTRACT:
	case LB_OP_MULTIPLY:
	case LB_OP_DIVIDE:
	case LB_OP_MAXIMUM:
	case LB_OP_MINIMUM:
	case LB_OP_REMAINDER:
	case LB_OP_FLOOR_DIVIDE:
	case LB_OP_WHERE:
	case LB_OP_CLIP:
	case LB_OP_DECODE:
	case LB_OP_BITCAST:
	case LB_OP_MAX:
	case LB_OP_MIN:
	case LB_OP_TAKE:
	case LB_OP_TAKE_ALONG:
	case LB_OP_SLICE_UPDATE:
	case LB_OP_SLICE_ADD:
	case LB_OP_PUT_ALONG:
	case LB_OP_SORT:
	case LB_OP_TOPK:
	case LB_OP_PARTITION:
	case LB_OP_PAD:
	case LB_OP_CONCATENATE:
	case LB_OP_CONTIGUOUS:
	case LB_OP_QUANTIZE: return true;
	default:
		return lb_op_class(op) == LB_CLASS_VIEW || lb_op_class(op) == LB_CLASS_CREATE ||
		       lb_op_class(op) == LB_CLASS_LEAF;
	}
}

/* Of floats, though floats come out. */
static bool decides(int op)
{
	return op == LB_OP_FLOOR || op == LB_OP_CEIL || op == LB_OP_ROUND || op == LB_OP_REMAINDER ||
	       op == LB_OP_FLOOR_DIVIDE || op == LB_OP_SIGN || op == LB_OP_PARTITION || op == LB_OP_QUANTIZE;
}

static void settle(struct lbx_recipe *r, struct lbx_step *s)
{
	bool is_float = lb_dtype_is_inexact((int)s->dtype);

	for (uint32_t i = 0; i < s->n_inputs; i++) {
		const struct lbx_step *input = &r->steps[r->inputs[s->first_input + i]];
		s->doubt = input->doubt > s->doubt ? input->doubt : s->doubt;
	}
	if (s->doubt == LBX_WITHIN && (!is_float || decides(s->op)))
		s->doubt = LBX_DECIDED;
	/* a product of complex numbers has several roundings */
	bool is_complex = s->dtype == LB_C64 && lb_op_is_elementwise(s->op);
	if (s->doubt == LBX_EXACT && is_float && (is_complex || !is_rounded_once(s->op)))
		s->doubt = LBX_WITHIN;
}

void lbx_recipe_settle(struct lbx_recipe *r)
{
	while (r->n_settled < r->n)
		settle(r, &r->steps[r->n_settled++]);
}

void lbx_step_has_no_gap(struct lbx_recipe *r, int value, int n, const int *of)
{
	enum lbx_doubt most = LBX_WITHIN;

	if (value == LBX_FAIL)
		return;
	lbx_recipe_settle(r);
	for (int i = 0; i < n; i++)
		if (of[i] != LBX_FAIL && r->steps[of[i]].doubt > most)
			most = r->steps[of[i]].doubt;
	if (r->steps[value].doubt > most)
		r->steps[value].doubt = most;
}
