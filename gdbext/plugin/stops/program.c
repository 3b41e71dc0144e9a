/* What a debugger has switched on must not go on costing when it has gone: hooks.c sees to it. The end of gdb by
 * the end of its input, or by a signal, runs no hook. */
#include "plugin/stops/program.h"

#include <string.h>

#include "plugin/bridge/bridge.h"
#include "plugin/stops/catch_arm.h"
#include "plugin/stops/catch_nodes.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/follow.h"
#include "plugin/stops/guests.h"
#include "plugin/stops/hits.h"
#include "plugin/stops/switches.h"

static bool arm(struct lbx_context *context, bool *found)
{
	struct lbx_watch_place place;
	enum lbx_nodes_there there[LBX_GUESTS];

	/* all that may have to be asked before anything is done */
	if (!lbx_catch_refresh() || !lbx_watch_find(context, &place) || !lbx_guests_find(context, there))
		return false;
	*found = place.found || lbx_guests_any(there, LBX_NODES_THERE) || lbx_guests_any(there, LBX_NODES_REFUSED);
	if (context->target && !place.found && lbx_switches_wait())
		lbx_breakpoint_need_start(LBX_START_FOR_SWITCHES);
	if (context->target && !place.found && lbx_follow_waits())
		lbx_breakpoint_need_start(LBX_START_FOR_FOLLOWING);
	if (place.found && !lbx_follow_put(context, &place.root))
		return false;
	return lbx_catch_arm(context, &place) && (!place.found || lbx_switches_put_wishes(context, &place.root)) &&
	       lbx_catch_arm_nodes(context);
}

bool lbx_program_start(struct lbx_context *context)
{
	bool found;

	return arm(context, &found) && lbx_hits_go_on();
}

bool lbx_program_attach(struct lbx_context *context)
{
	bool found = false, ok = arm(context, &found);

	if (!lbx_bridge_waits())
		lbx_bridge_script("set $_lb_unarmed = %d", ok && !found);
	return ok;
}

bool lbx_program_begin(void)
{
	if (!lbx_catch_refresh())
		return false;
	lbx_catch_forget_nodes();
	return true;
}

bool lbx_program_leave(struct lbx_context *context, const char *how)
{
	struct lbx_watch_place place;
	bool quits = context->target && strstr(how, "quit"), is_again = strncmp(how, "again ", 6) == 0;
	bool is_perhaps_another = strstr(how, "inferiors"); /* a hook is not told which are named */
	const char *program = "";

	/* It asks whether it is to: where the answer is no, all is to be as it was. What gdb has started itself it kills; to another
	 * process what is taken back now is given again before that goes on, as to one that gdb has attached to. */
	if (quits && !is_again)
		lbx_bridge_ask(&program, LBX_WITHOUT_FRAME, "info program");
	bool is_child = strstr(program, "image of child");
	lbx_bridge_script("set $_lb_returns = %d", (quits && !is_child) || is_perhaps_another);
	if (is_child)
		return true;
	enum lbx_leaving leaving = is_again ? LBX_LEAVES_NOW : LBX_LEAVES;
	if (!lbx_watch_find(context, &place) || !lbx_catch_refresh() || !lbx_catch_leave_nodes(context, leaving))
		return false;
	return !place.found || (lbx_switches_take_back(context, &place.root) && lbx_watch_take_back(context, &place) &&
				lbx_follow_take_back(context, &place.root));
}
