/* Gradients that are all zero: nothing is learned there. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"

enum { TOLD_MOST = 4 };

static bool conclude(struct lbx_case *c, void *state)
{
	const struct lbx_gradients *g = &c->gradients;
	size_t zero = 0;

	(void)state;
	for (size_t i = 0; i < g->n; i++)
		zero += g->list[i].is_zero;
	if (!zero)
		return true;
	bool is_all = zero == g->n;
	struct lbx_diagnosed *f = lbx_case_found(c, is_all ? LBX_LOW : LBX_MEDIUM, is_all ? 0.4 : 0.7);
	if (!f)
		return lb_ok();
	LBX_SAY(f->title, "%zu of %zu gradients %s all zero", zero, g->n, LB_PLURAL(zero, "is", "are"));
	for (size_t i = 0, told = 0; i < g->n && told < TOLD_MOST; i++) {
		if (!g->list[i].is_zero)
			continue;
		LBX_SAY(f->evidence, "%s%s (%" PRId64 " values)", told++ ? ", " : "", g->list[i].name,
			g->list[i].count);
		lbx_diagnosed_tensor(f, &g->list[i].key);
	}
	LBX_SAY(f->evidence, "%s.%s", zero > TOLD_MOST ? ", …" : "",
		is_all ? " They may have been set to zero just now, for the next turn." : " The others are not.");
	LBX_SAY(
	    f->advice,
	    "Look for what cuts the way back: detach() or stop_gradient, a layer that is not used, relu of negative values "
	    "alone, weights that are quantised (train() before fine-tuning).");
	return lb_ok();
}

const struct lbx_rule lbx_rule_zero_gradients = {
	.id = "G1",
	.name = "zero-gradients",
	.title = "gradients that are all zero",
	.sees = LBX_SEES_TENSORS | LBX_SEES_VALUES | LBX_SEES_GRADIENTS,
	.meaning =
	    "A parameter whose gradient is zero everywhere learns nothing: the way back to it is cut, or what it\n"
	    "feeds is dead.",
	.example = "h = torch.relu(self.fc1(x)).detach()     # nothing behind this is trained",
	.demands =
	    "A tensor that its runtime or its name (….grad) says is a gradient, of 2 values or more, all of them zero,\n"
	    "while other gradients are not. Low where all are zero: that may be zero_grad().",
	.cure = "Find what cuts the way back: `graph loss` shows which parameters it reaches.",
	.conclude = conclude,
};
