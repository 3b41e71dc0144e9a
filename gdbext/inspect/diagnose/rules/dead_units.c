/* Activations that pass nothing on: a relu that is zero everywhere, a tanh that is at its ends. */
#include <inttypes.h>

#include "inspect/diagnose/calls.h"
#include "inspect/diagnose/ops.h"

enum { COUNT_LEAST = 64 };

static const double saturated = 0.998; /* mean square of tanh: 0.999 on average */

static bool is_zero(const struct lbx_tensor *t)
{
	return t->size == 1 && (lbx_made_by(t, "scalar") || lbx_made_by(t, "full")) && t->params[0] == 0;
}

static bool is_relu(const struct lbx_tensor *t)
{
	struct lbx_tensor a, b;

	if (lbx_made_by(t, "relu"))
		return true;
	return lbx_made_by(t, "maximum") && lbx_input_of(t, 0, &a) && lbx_input_of(t, 1, &b) &&
	       (is_zero(&a) || is_zero(&b));
}

static bool is_dead(const struct lbx_tensor *t, const struct lbx_summary *s)
{
	return s->special[LBX_ZERO] == s->count && is_relu(t);
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t, const struct lbx_summary *s)
{
	double square = lbx_summary_l2(s);

	(void)c;
	if (s->count < COUNT_LEAST || s->finite != s->count)
		return true;
	square = square * square / (double)s->count;
	if (is_dead(t, s) || (lbx_made_by(t, "tanh") && square >= saturated))
		lbx_calls_see_figure(state, t, square);
	return true;
}

static void say(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t, const char *text)
{
	if (call->figure > 0) {
		LBX_SAY(f->title, "tanh is saturated everywhere");
		LBX_SAY(f->evidence, "%s: its mean square is %.6f, and 1 is where it ends.", text, call->figure);
		LBX_SAY(f->advice, "Smaller weights, or a norm before it: behind it no gradient passes.");
	} else {
		LBX_SAY(f->title, "a relu is dead: all of it is zero");
		LBX_SAY(f->evidence, "%s: each of its %" PRId64 " values is 0.", text, t->size);
		LBX_SAY(f->advice,
			"A smaller learning rate, another bias, or a leaky relu: behind it no gradient passes.");
	}
}

static bool conclude(struct lbx_case *c, void *state)
{
	return lbx_calls_tell(c, state, LBX_MEDIUM, 0.75, say);
}

const struct lbx_rule lbx_rule_dead_units = {
	.id = "N3",
	.name = "dead-units",
	.title = "activations that pass nothing on",
	.sees = LBX_SEES_TENSORS | LBX_SEES_VALUES,
	.meaning = "Where a relu is zero for all inputs, or a tanh at its ends, neither values nor gradients pass.",
	.example = "h = lb_tanh(lb_matmul(x, lb_multiply(w, lb_scalar(100))));",
	.demands =
	    "A ready result of 64 values or more, all finite: of a relu (a maximum with 0), and all of it is zero; or of\n"
	    "tanh, and its mean square is 0.998 or more.",
	.cure = "Smaller weights or learning rate, a norm before it, a bias that is not so negative.",
	.state = sizeof(struct lbx_calls),
	.values = see,
	.conclude = conclude,
};
