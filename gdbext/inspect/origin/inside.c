#include "inspect/origin/inside.h"

#include <string.h>

#include "base/error.h"
#include "inspect/tensor/array.h"

static bool is_bad(const uint64_t *element, enum lb_dtype dtype, bool nan, enum lbx_special *ret)
{
	struct lbx_summary one;

	lbx_summary_init(&one, dtype);
	lbx_summary_add(&one, element, 1, 0);
	for (int k = nan ? LBX_NAN : LBX_POSITIVE_INF; k <= (nan ? LBX_NAN : LBX_NEGATIVE_INF); k++)
		if (one.special[k]) {
			*ret = (enum lbx_special)k;
			return true;
		}
	return false;
}

bool lbx_register_is_bad(const struct lbx_inside *in, int insn, int operand, bool nan, enum lbx_special *ret)
{
	enum lb_dtype dtype = in->program.dtypes[in->program.insns[insn].operands[operand]];

	return is_bad(&in->steps.steps[insn].operands[operand], dtype, nan, ret);
}

bool lbx_result_is_bad(const struct lbx_inside *in, bool nan)
{
	enum lbx_special kind;

	return is_bad(&in->steps.steps[in->steps.n - 1].result, in->program.dtypes[in->last], nan, &kind);
}

/* Whether the instruction's value can come from the operand: of a condition's branches, only one can give it. */
static bool is_taken(const struct lbx_inside *in, int insn, int operand)
{
	const struct lbx_insn *i = &in->program.insns[insn];

	if (strcmp(i->op, "where") != 0)
		return true;
	bool holds = lbx_element_int(&in->steps.steps[insn].operands[0], in->program.dtypes[i->operands[0]]) != 0;
	return operand == (holds ? 1 : 2);
}

int lbx_maker(const struct lbx_inside *in, int reg, bool nan)
{
	enum lbx_special kind;

	while (reg >= in->first) {
		const struct lbx_insn *insn = &in->program.insns[reg - in->first];
		int next = -1;
		for (int k = 0; k < insn->n_operands; k++) {
			int operand = insn->operands[k];
			bool constant = operand >= in->program.n_inputs && operand < in->first;
			if (!constant && is_taken(in, reg - in->first, k) &&
			    lbx_register_is_bad(in, reg - in->first, k, nan, &kind) && (next < 0 || operand < next))
				next = operand;
		}
		if (next < 0)
			return reg;
		reg = next;
	}
	return reg;
}

/* An elementwise operation as a program of one instruction. */
static bool single(const struct lbx_tensor *t, struct lbx_program *ret)
{
	*ret = (struct lbx_program){ .n_inputs = (int)t->n_inputs, .n_insns = 1 };
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		struct lbx_tensor input;
		if (!lbx_tensor_input(t, i, &input))
			return false;
		ret->dtypes[i] = input.dtype;
	}
	ret->dtypes[t->n_inputs] = t->dtype;
	ret->insns[0] = (struct lbx_insn){ .op = t->op, .n_operands = (int)t->n_inputs, .operands = { 0, 1, 2 } };
	return true;
}

bool lbx_look_inside(struct lbx_search *s, const struct lbx_origin_link *link, bool *known, struct lbx_inside *ret)
{
	const struct lbx_tensor *t = &link->tensor;
	bool fused = t->op_class == LB_CLASS_FUSED;

	*known = false;
	if (!fused && (t->op_class < LB_CLASS_UNARY || t->op_class > LB_CLASS_TERNARY || t->n_inputs > LBX_OPERANDS))
		return true;
	if (!(fused ? lbx_tensor_program(t, &ret->program) : single(t, &ret->program))) {
		lb_clear_error();
		return true;
	}
	*known = lbx_replay_steps(s->context, t, link->at, s->limit, &ret->steps);
	if (!*known && lb_error_cause() == LB_INTERRUPTED)
		return false;
	lb_clear_error();
	*known = *known && ret->steps.n > 0 && ret->steps.n == ret->program.n_insns;
	ret->first = ret->program.n_inputs + ret->program.n_constants;
	ret->last = ret->first + ret->program.n_insns - 1;
	return true;
}
