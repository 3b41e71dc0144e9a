/* A state that a loop never evaluates: x = step(x), turn after turn, is a graph that grows (growth.h). */
#include <inttypes.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/growth.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "tensors/held.h"

enum { TURNS_MEDIUM = 512, TURNS_HIGH = 4096 };

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	(void)c;
	return lbx_growth_see(state, t);
}

static bool tell(struct lbx_case *c, const struct lbx_growing *g)
{
	enum lbx_severity severity = g->computed || g->turns >= TURNS_HIGH ? LBX_HIGH
				     : g->turns >= TURNS_MEDIUM            ? LBX_MEDIUM
									   : LBX_LOW;
	char name[LBX_DESCRIPTION_MAX], number[LBX_ID_TEXT_MAX];
	struct lbx_tensor t;
	struct lbx_held held;
	struct lbx_diagnosed *f = lbx_case_found_of(c, severity,
						    g->computed              ? 0.95
						    : g->turns >= TURNS_HIGH ? 0.85
									     : 0.6,
						    &g->root, &t);

	if (!f)
		return lb_ok();
	lbx_describe(&t, name, sizeof name);
	lbx_tensor_id_text(&t, number);
	lbx_tensor_held(&t, &held);
	LBX_SAY(f->title, "the graph behind %s grows from turn to turn, and is never evaluated",
		t.name[0] ? t.name : number);
	LBX_SAY(f->evidence, "%s: the same %s on the way down, %" PRIu32 " times; %" PRIu32 " operations deep.", name,
		g->period == 1 ? "operation comes" : "operations come", g->turns, g->depth);
	if (g->period > 1)
		LBX_SAY(f->evidence, " A turn has %" PRIu32 " of them.", g->period);
	if (g->computed)
		LBX_SAY(f->evidence, " Meanwhile %" PRIu64 " other%s made and computed.", g->computed,
			LB_PLURAL(g->computed, " was", "s were"));
	if (held.holder[0])
		LBX_SAY(f->evidence, " %s holds it.", held.holder);
	if (severity == LBX_LOW)
		LBX_SAY(f->evidence, " It may be meant so, as where a recurrence is built before it is computed.");
	LBX_SAY(f->cost, "%" PRIu32 " lazy tensors are kept, and what they will need", g->lazy);
	LBX_SAY(f->advice, "Evaluate it once a turn, with what else the turn changes.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct lbx_growing growing;

	if (!lbx_growth_find(state, c->context->out, &growing))
		return false;
	return !growing.turns || tell(c, &growing);
}

static void forget(void *state)
{
	lbx_growth_deinit(state);
}

const struct lbx_rule lbx_rule_growing_graph = {
	.id = "L1",
	.name = "growing-graph",
	.title = "a graph that grows from turn to turn and is never evaluated",
	.sees = LBX_SEES_TENSORS,
	.meaning = "A lazy tensor keeps everything that it will be computed from. Where a loop makes each turn's\n"
		   "state of the one before, and nobody asks for it, the graph grows with each turn: memory grows,\n"
		   "and the evaluation that comes at last takes as long as all turns.",
	.example = "for (int i = 0; i < steps; i++)\n"
		   "	x = lb_add(lb_multiply(x, a), noise(i));   /* x is never evaluated */",
	.demands = "The longest way down from the deepest lazy tensor repeats the same operations, made at the same\n"
		   "places, at least 64 times; and the last turns have a tensor in common that they start from, or\n"
		   "start from none, so that they are no layers with weights of their own. Above low from 512\n"
		   "turns on; high from 4096, or where evaluations computed other tensors between these turns.",
	.cure = "Evaluate the state at the end of each turn, together with what else the turn gives: one\n"
		"evaluation for all. A loss that is only logged: take its number (lb_item, .item()).",
	.state = sizeof(struct lbx_growth),
	.tensor = see,
	.conclude = conclude,
	.deinit = forget,
};
