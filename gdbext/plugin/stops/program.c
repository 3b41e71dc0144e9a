/* What a debugger has switched on must not go on costing when it has gone: hooks.c sees to it. The end of gdb by
 * the end of its input, or by a signal, runs no hook. */
#include "plugin/stops/program.h"

#include "plugin/bridge/bridge.h"
#include "plugin/stops/catch.h"
#include "plugin/stops/switches.h"

static bool arm(struct lbx_context *context, bool *found)
{
	struct lbx_watch_place place;

	if (!lbx_catch_refresh() || !lbx_watch_find(context, &place))
		return false;
	*found = place.found;
	if (context->target && !place.found && lbx_switches_wait())
		lbx_breakpoint_need_start(LBX_START_FOR_SWITCHES);
	return lbx_catch_arm(context, &place) && (!place.found || lbx_switches_put_wishes(context, &place.root));
}

bool lbx_program_start(struct lbx_context *context)
{
	bool found;

	return arm(context, &found);
}

bool lbx_program_attach(struct lbx_context *context)
{
	bool found = false, ok = arm(context, &found);

	if (!lbx_bridge_waits())
		lbx_bridge_script("set $_lb_unarmed = %d", ok && !found);
	return ok;
}

bool lbx_program_leave(struct lbx_context *context)
{
	struct lbx_watch_place place;

	if (!lbx_watch_find(context, &place))
		return false;
	return !place.found || (lbx_switches_take_back(context, &place.root) && lbx_watch_take_back(context, &place));
}
