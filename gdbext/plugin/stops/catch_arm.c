#include "plugin/stops/catch_arm.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "plugin/bridge/bridge.h"
#include "plugin/stops/catch.h"
#include "plugin/stops/catches.h"

/* Takes out of the list what the program's runtime cannot do, and disables its breakpoint, which would
 * stop at each event. */
static bool leave_out(struct lbx_context *context, const struct lbx_watch_place *place, struct lbx_catch *c)
{
	const struct lbx_watch want = lbx_watch_wanted(c, 1);

	if (!c->number || lbx_catch_key(c) == LBX_BREAKPOINT_NONE || lbx_watch_check(place, &want))
		return false;
	lbx_printf(context->out, "Catch %d is disabled: %s.\n", c->number, lb_error_message());
	lb_clear_error();
	lbx_bridge_script("disable breakpoints %d", lbx_breakpoint_number(lbx_catch_key(c)));
	c->number = 0;
	return true;
}

static void tell_shortcoming(struct lbx_context *context, const struct lbx_watch_place *place,
			     const struct lbx_catch *c)
{
	struct text text = { 0 };

	lbx_catch_add_shortcoming(c, place, &text);
	lbx_wrap(context->out, 0, 4);
	if (text.n)
		lbx_printf(context->out, "Catch %d: %s.\n", c->number, text.bytes);
	text_free(&text);
}

bool lbx_catch_arm(struct lbx_context *context, const struct lbx_watch_place *place)
{
	struct lbx_catch list[LBX_CATCHES];
	struct lbx_watch want;
	struct text condition;
	char number[16];
	bool ok = true;
	int n;

	memcpy(list, lbx_catches(&n), sizeof list);
	for (int i = 0; i < LBX_CATCHES && ok; i++) {
		if (leave_out(context, place, &list[i]) || !list[i].number ||
		    lbx_catch_key(&list[i]) == LBX_BREAKPOINT_NONE)
			continue;
		snprintf(number, sizeof number, "%d", lbx_breakpoint_number(lbx_catch_key(&list[i])));
		ok = lbx_catch_make_condition(&list[i], place, &condition);
		if (ok)
			lbx_catch_put_condition(number, &condition);
		tell_shortcoming(context, place, &list[i]);
	}
	want = lbx_watch_wanted(list, LBX_CATCHES);
	return ok && lbx_watch_write(context, place, &want);
}
