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

int lbx_operand_kinds(const struct lbx_tensor *t, struct lbx_operand_kind ret[LBX_OPERANDS_MOST], bool *ret_certain)
{
	struct lbx_tensor input, before;

	*ret_certain = true;
	if (t->n_inputs < 2 || t->n_inputs > LBX_OPERANDS_MOST)
		return 0;
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		if (!lbx_input_of(t, i, &input))
			return 0;
		bool is_converted = lbx_made_by(&input, "astype") && (!t->site || input.site == t->site) &&
				    lbx_input_of(&input, 0, &before);
		const struct lbx_tensor *own = is_converted ? &before : &input;
		*ret_certain &= !is_converted || t->site;
		ret[i] = (struct lbx_operand_kind){ own->dtype, is_converted, own->flags & LB_FLAG_WEAK,
						    lbx_tensor_key(own) };
	}
	return (int)t->n_inputs;
}
