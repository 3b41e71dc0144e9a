/* A product and a bias in two passes, where addmm() takes one. */
#include <inttypes.h>

#include "base/plural.h"
#include "inspect/diagnose/calls.h"
#include "inspect/diagnose/ops.h"

static bool is_bias(const struct lbx_tensor *b, const struct lbx_tensor *sum)
{
	return !b->is_shapeless && b->rank == 1 && sum->rank >= 2 && lbx_shape(b)[0] == lbx_shape(sum)[sum->rank - 1];
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct lbx_tensor a, b, before;

	(void)c;
	if (t->torn || t->is_shapeless || !lbx_made_by(t, "add") || !lbx_input_of(t, 0, &a) || !lbx_input_of(t, 1, &b))
		return true;
	if ((lbx_made_by(&b, "broadcast") || lbx_made_by(&b, "broadcast_to")) && lbx_input_of(&b, 0, &before))
		b = before;
	if (lbx_made_by(&a, "matmul") && is_bias(&b, t))
		lbx_calls_see(state, t, &a);
	return true;
}

static void say(struct lbx_diagnosed *f, const struct lbx_call *call, const struct lbx_tensor *t, const char *text)
{
	(void)t;
	LBX_SAY(f->title, "a bias is added to a product in a pass of its own");
	LBX_SAY(f->evidence, "%s. %" PRIu64 " such sum%s.", text, call->times,
		LB_PLURAL(call->times, " is there", "s are there"));
	LBX_SAY(f->advice, "lb_addmm(bias, x, w, 1, 1), mx.addmm(bias, x, w) write the result once.");
}

static bool conclude(struct lbx_case *c, void *state)
{
	return lbx_calls_tell(c, state, LBX_LOW, 0.9, say);
}

const struct lbx_rule lbx_rule_bias_added = {
	.id = "L9f",
	.name = "bias-added",
	.title = "a product and a bias in two passes",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "add(matmul(x, w), bias) writes the product, reads it again and writes the sum. addmm() does both at\n"
	    "once.",
	.example = "y = lb_add(lb_matmul(x, w), bias);",
	.demands = "A sum of a product and a vector as long as its last axis. It is low always: the cost is small.",
	.cure = "lb_addmm(bias, x, w, 1, 1), mx.addmm(bias, x, w).",
	.state = sizeof(struct lbx_calls),
	.tensor = see,
	.conclude = conclude,
};
