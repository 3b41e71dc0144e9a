/* Streams whose jobs have failed, which somebody will be told who waits for them, or nobody. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"

enum { STREAMS_MOST = 4096 };

static bool conclude(struct lbx_case *c, void *state)
{
	struct lbx_stream s;
	uint64_t slot = 0;

	(void)state;
	for (int i = 0; i < STREAMS_MOST && lbx_table_stream(c->table, &slot, &s); i++) {
		if (!s.failed)
			continue;
		struct lbx_diagnosed *f = lbx_case_found(c, LBX_MEDIUM, 0.9);
		if (!f)
			return lb_ok();
		LBX_SAY(f->title, "%" PRIu64 " job%s of stream %" PRIu64 "%s%s failed", s.failed, LB_S(s.failed), s.id,
			s.name[0] ? " " : "", s.name);
		LBX_SAY(f->evidence, "%s%s%" PRIu64 " of its jobs have ended.",
			s.error[0] ? s.error : "Why is not known", s.error[0] ? "; " : "; ", s.done);
		LBX_SAY(f->advice, "Who reads a result of it gets that error: look at what lb_synchronize() gives.");
	}
	return lb_ok();
}

const struct lbx_rule lbx_rule_failed_streams = {
	.id = "F3",
	.name = "failed-streams",
	.title = "jobs of a stream that failed",
	.sees = LBX_SEES_RUNTIME,
	.meaning = "What lb_async_eval() queues fails later, on another thread. Who never waits for it never hears.",
	.example = "lb_async_eval(y);     /* y cannot be computed; nobody reads it */",
	.demands = "A stream has counted a job that failed.",
	.cure = "lb_synchronize(stream), or reading a result, tells the error where it can be handled.",
	.conclude = conclude,
};
