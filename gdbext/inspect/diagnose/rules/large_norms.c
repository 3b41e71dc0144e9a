/* What a norm gives is large: before it millions are normal, behind it they are not. */
#include <math.h>

#include "inspect/diagnose/calls.h"
#include "inspect/diagnose/ops.h"

enum { COUNT_LEAST = 16 };

static const double large = 1e3;

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t, const struct lbx_summary *s)
{
	double rms = s->count ? lbx_summary_l2(s) / sqrt((double)s->count) : 0;

	(void)c;
	if (s->count < COUNT_LEAST || s->finite != s->count || rms < large ||
	    !(lbx_made_by(t, "rms_norm") || lbx_made_by(t, "layer_norm") || lbx_made_by(t, "norm")))
		return true;
	lbx_calls_see_figure(state, t, rms);
	return true;
}

static void say(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t, const char *text)
{
	LBX_SAY(f->title, "%s gives values of %.3g", t->op, call->figure);
	LBX_SAY(f->evidence, "%s: its root mean square is %.4g. A norm makes that 1, times its weight.", text,
		call->figure);
	LBX_SAY(f->advice, "Look at the norm's weight, and whether it is the one that belongs there.");
}

static bool conclude(struct lbx_case *c, void *state)
{
	return lbx_calls_tell(c, state, LBX_MEDIUM, 0.8, say);
}

const struct lbx_rule lbx_rule_large_norms = {
	.id = "L13",
	.name = "large-norms",
	.title = "values that are large behind a norm",
	.sees = LBX_SEES_TENSORS | LBX_SEES_VALUES,
	.meaning =
	    "In front of a norm values may grow to millions, and the norm takes that out again. Behind it they are as\n"
	    "large as its weight: thousands mean that a weight is wrong.",
	.example = "y = lb_layer_norm(x, w, b, 1e-6);     /* w was loaded of another layer, or not scaled */",
	.demands =
	    "A ready result of a norm, of 16 values or more, all finite, whose root mean square is 1000 or more.",
	.cure = "Compare the norm's weight with the file's: `diff NAME FILE`.",
	.state = sizeof(struct lbx_calls),
	.values = see,
	.conclude = conclude,
};
