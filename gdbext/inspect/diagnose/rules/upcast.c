/* Half precision that is made float32 for a softmax or a norm, and half again: they compute so themselves. */
#include <inttypes.h>

#include "base/plural.h"
#include "inspect/diagnose/calls.h"
#include "inspect/diagnose/ops.h"

static const char *const accurate[] = { "softmax", "rms_norm", "layer_norm", "logsumexp", NULL };

static bool is_accurate(const struct lbx_tensor *t)
{
	for (const char *const *op = accurate; *op; op++)
		if (lbx_made_by(t, *op))
			return true;
	return false;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct lbx_tensor middle, up, before;

	(void)c;
	if (t->torn || (t->dtype != LB_F16 && t->dtype != LB_BF16) || !lbx_made_by(t, "astype") ||
	    !lbx_input_of(t, 0, &middle) || middle.dtype != LB_F32 || !is_accurate(&middle) ||
	    !lbx_input_of(&middle, 0, &up) || !lbx_made_by(&up, "astype") || !lbx_input_of(&up, 0, &before) ||
	    before.dtype != t->dtype)
		return true;
	lbx_calls_see(state, &middle, t);
	return true;
}

static void say(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t, const char *text)
{
	LBX_SAY(f->title, "half precision is made float32 around %s by hand", t->op);
	LBX_SAY(f->evidence,
		"%s: its input was converted from half precision, and it is converted back; %" PRIu64 " such result%s.",
		text, call->times, LB_PLURAL(call->times, " is there", "s are there"));
	LBX_SAY(f->cost, "two passes over the data, and twice the memory between");
	LBX_SAY(f->advice,
		"Leave both conversions out: it adds up in float32 anyway (in MLX mx.softmax(…, precise=True)).");
}

static bool conclude(struct lbx_case *c, void *state)
{
	return lbx_calls_tell(c, state, LBX_MEDIUM, 0.8, say);
}

const struct lbx_rule lbx_rule_upcast = {
	.id = "L11",
	.name = "upcast",
	.title = "conversions to float32 and back around a softmax or a norm",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "Softmax and norms of half precision are added up in float32 as they are. Converting before and behind\n"
	    "reads and writes everything twice more.",
	.example = "y = lb_astype(lb_softmax(lb_astype(x, LB_F32), LB_AXES(-1)), LB_F16);   /* x is float16 */",
	.demands = "A softmax, norm or logsumexp in float32 whose input is a conversion from half precision and whose\n"
		   "result is converted back to the same.",
	.cure = "lb_softmax(x), lb_rms_norm(x, …) of the half precision itself; mx.softmax(x, precise=True),\n"
		"mx.fast.rms_norm(x, …).",
	.state = sizeof(struct lbx_calls),
	.tensor = see,
	.conclude = conclude,
};
