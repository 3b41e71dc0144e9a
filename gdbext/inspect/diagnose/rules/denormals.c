/* Values too small for their dtype: most of what is left are denormal numbers, which are slow and have few bits. */
#include <inttypes.h>

#include "inspect/diagnose/calls.h"

enum { COUNT_LEAST = 64 };

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t, const struct lbx_summary *s)
{
	(void)c;
	if (s->count < COUNT_LEAST || s->special[LBX_DENORMAL] * 2 < s->count || t->encoding)
		return true;
	lbx_calls_see_figure(state, t, (double)s->special[LBX_DENORMAL]);
	return true;
}

static void say(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t, const char *text)
{
	LBX_SAY(f->title, "%.0f of %" PRId64 " values are denormal", call->figure, t->size);
	LBX_SAY(f->evidence, "%s: they are below the least that %s holds with all its bits.", text,
		lbx_dtype_name(t->dtype));
	LBX_SAY(f->cost, "arithmetic with them is many times slower on most processors");
	LBX_SAY(f->advice, "Scale the loss in float16; stop a decay at zero; a wider dtype, or bfloat16.");
}

static bool conclude(struct lbx_case *c, void *state)
{
	return lbx_calls_tell(c, state, LBX_MEDIUM, 0.8, say);
}

const struct lbx_rule lbx_rule_denormals = {
	.id = "N4",
	.name = "denormals",
	.title = "values too small for their dtype",
	.sees = LBX_SEES_TENSORS | LBX_SEES_VALUES,
	.meaning =
	    "Below its least normal number (6.1e-5 in float16) a dtype has fewer and fewer bits, then zero. Gradients of\n"
	    "half precision vanish so, and processors compute with such numbers slowly.",
	.example = "grad = lb_astype(lb_multiply(g, lb_scalar(1e-6)), LB_F16);",
	.demands = "At least half of a ready tensor of 64 values or more are denormal numbers of its dtype.",
	.cure = "Scale the loss, so that gradients are larger; bfloat16 reaches as far down as float32.",
	.state = sizeof(struct lbx_calls),
	.values = see,
	.conclude = conclude,
};
