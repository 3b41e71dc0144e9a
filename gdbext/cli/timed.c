#include "cli/timed.h"

#include "base/clock.h"
#include "base/error.h"
#include "target/process.h"

enum { SECOND = 1000000000, SECONDS = 3 };

void lbx_timed_ask(struct lbx_context *context, struct lbx_timed *timed)
{
	struct lbx_root root;
	uint64_t now = lb_clock_ns();

	if (timed->asked_ns && now - timed->asked_ns < SECOND)
		return;
	timed->asked_ns = now;
	if (lbx_table_root(context->table, &root) && root.event_mode_at && root.timed_until_at &&
	    (root.timed_until || !(root.event_mode & LB_EVENTS_TIMED))) {
		uint64_t until = now + SECONDS * (uint64_t)SECOND;
		uint32_t mode = root.event_mode | LB_EVENTS_TIMED | (timed->detailed ? LB_EVENTS_DETAILED : 0);
		/* in this order: it must not stay on */
		if (lbx_process_write(context->target, root.timed_until_at, &until, sizeof until))
			lbx_process_write(context->target, root.event_mode_at, &mode, sizeof mode);
	}
	lb_clear_error();
}
