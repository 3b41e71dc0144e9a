/* Several evaluations a turn, where one would do: the calls that evaluate come in the same order again and again. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"

enum { PERIOD_MOST = 16, TURNS_LEAST = 16, SMALL_OPS = 3, SMALL_TURNS = 64, PLACE = 320 };

/* How many calls make a turn at the end of a thread's evaluations: 2 or more, each at a place of its own; 0: that is not so. */
static size_t find_period(const struct lbx_evaluation *list, size_t n, size_t *ret_turns)
{
	for (size_t period = 1; period <= PERIOD_MOST && period * TURNS_LEAST <= n; period++) {
		size_t same = 0;
		while (period + same < n && list[n - 1 - same].site == list[n - 1 - same - period].site)
			same++;
		*ret_turns = same / period + 1;
		if (*ret_turns >= TURNS_LEAST)
			return period;
	}
	return 0;
}

static bool are_different(const struct lbx_evaluation *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (list[i].site == list[k].site)
				return false;
	return true;
}

/* Some checks of a few numbers, which cost next to nothing. */
static bool is_little(const struct lbx_evaluation *turn, size_t period, size_t turns)
{
	size_t large = 0;

	for (size_t i = 0; i < period; i++)
		large += turn[i].ops > SMALL_OPS;
	return large < 2 && turns < SMALL_TURNS;
}

static bool tell(struct lbx_case *c, const struct lbx_evaluation *turn, size_t period, size_t turns)
{
	struct lbx_diagnosed *f = lbx_case_found(c, is_little(turn, period, turns) ? LBX_LOW : LBX_MEDIUM, 0.7);
	char place[PLACE];

	if (!f)
		return lb_ok();
	f->pc = turn[0].site;
	LBX_SAY(f->title, "each turn evaluates %zu times", period);
	LBX_SAY(f->evidence, "The last %zu turns of thread %u evaluated in the same order:", turns, turn[0].thread);
	for (size_t i = 0; i < period; i++) {
		lbx_describe_pc(c->context->target, turn[i].site, place, sizeof place);
		LBX_SAY(f->evidence, "%s %s (%lld operation%s%s)", i ? "," : "", place, (long long)turn[i].ops,
			turn[i].ops == 1 ? "" : "s", turn[i].is_implicit ? ", by reading a value" : "");
	}
	LBX_SAY(f->evidence, ".");
	LBX_SAY(f->cost, "%zu evaluations more than turns, each with a pass over the graph and a wait for it",
		(period - 1) * turns);
	LBX_SAY(
	    f->advice,
	    "Evaluate once at the end of the turn all that it gives, lb_eval(loss, …), and read numbers after that.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct lbx_evaluations *e = lbx_case_evaluations(c);
	size_t turns;

	(void)state;
	for (size_t i = 0, n; e && i < e->n; i += n) {
		n = lbx_evaluations_of_thread(e, i);
		size_t period = find_period(e->list + i, n, &turns);
		const struct lbx_evaluation *turn = e->list + i + n - period;
		if (period >= 2 && are_different(turn, period) && !tell(c, turn, period, turns))
			return false;
	}
	return e != NULL;
}

const struct lbx_rule lbx_rule_several_evaluations = {
	.id = "L2a",
	.name = "several-evaluations",
	.title = "several evaluations in each turn of a loop",
	.sees = LBX_SEES_EVENTS,
	.meaning = "Each evaluation walks the graph, waits for its end, and keeps what it shares with the next one\n"
		   "from being computed together. A turn of training or of generation needs one.",
	.example = "for (int i = 0; i < steps; i++) {\n"
		   "	loss = step(model, batch(i));\n"
		   "	lb_eval(loss);                       /* one */\n"
		   "	lb_eval_n(n, parameters);             /* and another */\n"
		   "}",
	.demands = "The newest evaluations of a thread, as the flight recorder has them, come from 2 to 16 different\n"
		   "calls, in the same order for 16 turns or more. Low below 64 turns where no two of a turn's\n"
		   "evaluations run more than 3 operations.",
	.cure = "Evaluate all that a turn gives by one call at its end; values that are read after that cost nothing.",
	.conclude = conclude,
};
