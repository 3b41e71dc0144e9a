#include "inspect/diagnose/ops.h"

#include <ctype.h>

#include "base/error.h"

bool lbx_made_by(const struct lbx_tensor *t, const char *op)
{
	const char *a = t->op;

	for (;; a++, op++) {
		a += *a == '_';
		op += *op == '_';
		if (tolower((unsigned char)*a) != tolower((unsigned char)*op))
			return false;
		if (!*a)
			return true;
	}
}

bool lbx_input_of(const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	bool clean = lb_ok(), found = i < t->n_inputs && lbx_tensor_input(t, i, ret);

	if (clean)
		lb_clear_error();
	return found;
}

void lbx_operands_find(const struct lbx_tensor *t, struct lbx_operands *ret)
{
	struct lbx_tensor input, before;

	*ret = (struct lbx_operands){ .key = lbx_tensor_key(t), .is_certain = true };
	if (t->n_inputs < 2 || t->n_inputs > LBX_OPERANDS_MOST)
		return;
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		if (!lbx_input_of(t, i, &input))
			return;
		bool is_converted = lbx_made_by(&input, "astype") && (!t->site || input.site == t->site) &&
				    lbx_input_of(&input, 0, &before);
		const struct lbx_tensor *own = is_converted ? &before : &input;
		ret->is_certain &= !is_converted || t->site;
		ret->list[i] = (struct lbx_operand_kind){ own->dtype, is_converted, own->flags & LB_FLAG_WEAK,
							  lbx_tensor_key(own) };
	}
	ret->n = (int)t->n_inputs;
}
