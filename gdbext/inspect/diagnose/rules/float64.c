/* Arithmetic in float64, which nobody may have asked for: one float64 operand makes all that is computed from it float64. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { INPUTS_MOST = 16 };

struct seen {
	uint64_t n, wide; /* of floats; of these in float64 */
	uint64_t promoted; /* by an operation whose other operand is narrower */
	int64_t bytes;
	bool has_first;
	struct lbx_key first, from; /* the first that is promoted, and the operand that made it so */
	uint64_t site;
};

static bool is_float(enum lb_dtype dtype)
{
	return dtype == LB_F16 || dtype == LB_BF16 || dtype == LB_F32 || dtype == LB_F64;
}

/* Whether a float64 meets a narrower float among t's inputs, itself or by a conversion that came of it. */
static bool meets_narrower(const struct lbx_tensor *t, struct lbx_key *ret_wide)
{
	bool has_narrower = false, has_wide = false, clean = lb_ok();

	for (uint32_t i = 0; i < t->n_inputs && i < INPUTS_MOST; i++) {
		struct lbx_tensor input, before;
		if (!lbx_tensor_input(t, i, &input))
			continue;
		bool is_converted = input.n_inputs == 1 && input.dtype == LB_F64 &&
				    lbx_tensor_input(&input, 0, &before) && is_float(before.dtype) &&
				    before.dtype != LB_F64;
		has_narrower |= is_converted || (is_float(input.dtype) && input.dtype != LB_F64);
		if (input.dtype == LB_F64 && !is_converted) {
			has_wide = true;
			*ret_wide = lbx_tensor_key(&input);
		}
	}
	if (clean)
		lb_clear_error();
	return has_narrower && has_wide;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct seen *s = state;
	struct lbx_key wide;

	(void)c;
	if (t->torn || t->is_shapeless || !is_float(t->dtype))
		return true;
	s->n++;
	if (t->dtype != LB_F64)
		return true;
	s->wide++;
	s->bytes += lbx_tensor_nbytes(t);
	if (t->n_inputs < 2 || !meets_narrower(t, &wide))
		return true;
	if (s->promoted++ == 0) {
		s->has_first = true;
		s->first = lbx_tensor_key(t);
		s->from = wide;
		s->site = t->site;
	}
	return true;
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct seen *s = state;
	struct lbx_tensor t, from;
	char text[LBX_DESCRIPTION_MAX], bytes[32];

	if (!s->promoted)
		return true;
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_MEDIUM, 0.8);
	if (!f || !lbx_tensor_by_key(&s->first, &t) || !lbx_tensor_by_key(&s->from, &from))
		return lb_ok();
	f->pc = s->site;
	lbx_diagnosed_tensor(f, &s->first);
	lbx_diagnosed_tensor(f, &s->from);
	LBX_SAY(f->title, "a float64 operand makes float32 arithmetic float64");
	lbx_describe(&t, text, sizeof text);
	LBX_SAY(f->evidence, "%s of %s:", t.op, text);
	lbx_describe(&from, text, sizeof text);
	LBX_SAY(f->evidence,
		" its operand %s is float64, the other is not. %" PRIu64 " tensor%s float64 so, %" PRIu64 " of %" PRIu64
		" in all.",
		text, s->promoted, LB_PLURAL(s->promoted, " is", "s are"), s->wide, s->n);
	lbx_format_bytes(s->bytes, bytes, sizeof bytes);
	LBX_SAY(f->cost, "%s in float64, twice what float32 takes, and half its speed", bytes);
	LBX_SAY(f->advice,
		"Make the operand float32, or a number of the language's own, which takes the tensor's dtype.");
	return lb_ok();
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
	.demands = "An operation of at least two operands gives float64, one of these is float64, and another is a\n"
		   "narrower float. A program that computes in float64 throughout is not meant.",
	.cure =
	    "lb_scalar(0.5), which is weak: it takes the other operand's dtype; or astype() where the value comes in.",
	.state = sizeof(struct seen),
	.tensor = see,
	.conclude = conclude,
};
