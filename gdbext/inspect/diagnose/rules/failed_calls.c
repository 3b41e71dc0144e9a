/* Calls that failed, and whose failure the program may not have looked at. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"

enum { KINDS_MOST = LBX_DIAGNOSED_MOST, NULL_PAGE = 4096 };

struct failures {
	int n, last; /* last: the one that failed last */
	struct failure {
		uint64_t site, times;
		char message[LB_FLIGHT_TEXT_BYTES];
	} list[KINDS_MOST];
};

static bool happen(struct lbx_case *c, void *state, const struct lbx_happened *event)
{
	struct failures *f = state;
	char message[LB_FLIGHT_TEXT_BYTES];
	uint64_t site;
	int i = 0;

	if (event->what != LBX_HAPPENED_error)
		return true;
	site = lbx_happened_arg(c, event, "site");
	lbx_happened_text(c, event, "message", message);
	while (i < f->n && f->list[i].site != site)
		i++;
	if (i == KINDS_MOST) {
		f->last = -1; /* that one is not told */
		return true;
	}
	f->n += i == f->n;
	f->last = i;
	f->list[i].site = site;
	f->list[i].times++;
	if (message[0])
		memcpy(f->list[i].message, message, sizeof message);
	return true;
}

/* Whether it died of a NULL pointer, which is what a call gives that fails. */
static bool died_of_null(const struct lbx_case *c)
{
	return c->has_death && c->death.signal == SIGSEGV && c->death.has_address && c->death.address < NULL_PAGE;
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct failures *list = state;

	for (int i = 0; i < list->n; i++) {
		const struct failure *x = &list->list[i];
		bool is_cause = i == list->last && died_of_null(c);
		struct lbx_diagnosed *f = lbx_case_found(c, is_cause ? LBX_HIGH : LBX_MEDIUM, is_cause ? 0.96 : 0.8);
		if (!f)
			return lb_ok();
		f->pc = x->site;
		LBX_SAY(f->title, "a call failed: %s", x->message[0] ? x->message : "its message is lost");
		LBX_SAY(f->evidence, "%" PRIu64 " time%s, as far as the flight recorder goes back.", x->times,
			LB_S(x->times));
		if (is_cause)
			LBX_SAY(
			    f->evidence,
			    " It was the last call that failed, and gave NULL; the program died of a NULL pointer.");
		LBX_SAY(f->advice,
			"What is computed from its result fails, too: look at lb_error_message() where it is made.");
	}
	return true;
}

const struct lbx_rule lbx_rule_failed_calls = {
	.id = "F1",
	.name = "failed-calls",
	.title = "calls of the runtime that failed",
	.sees = LBX_SEES_EVENTS,
	.meaning =
	    "A call that fails gives NULL, and so do those that get it. A program that does not look goes on with\n"
	    "nothing, or crashes far from the cause.",
	.example = "y = lb_matmul(x, w);     /* (2, 3) by (4, 5): fails */\n"
		   "z = lb_exp(y);           /* NULL, quietly */",
	.demands = "The flight recorder has an error. High, of the last one, where the program died of a NULL pointer.",
	.cure = "lb_ok() at the end of a unit of work; `tensor catch error` stops where it happens.",
	.state = sizeof(struct failures),
	.event = happen,
	.conclude = conclude,
};
