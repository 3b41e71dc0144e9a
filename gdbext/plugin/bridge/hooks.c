#include "plugin/bridge/hooks.h"

#include <string.h>

#include "plugin/bridge/bridge.h"
#include "plugin/bridge/front_end.h"
#include "plugin/bridge/lines.h"

/* Typed at the prompt, `attach` returns before the process has stopped, and gdb 13 runs no hookpost-attach
 * then, later ones run it too early: there it is the hook-stop that arms. In a script it is the former. */
static const char *const hooks[][2] = {
	{ "hook-detach", "_lb_leave detach" },
	{ "hook-disconnect", "_lb_leave detach" },
	{ "detach hook-inferiors", "_lb_leave inferiors" },
	{ "hook-quit", "_lb_leave quit" },
	{ "hook-run", "_tensor" LBX_BEGIN },
	{ "hook-start", "_tensor" LBX_BEGIN },
	{ "hook-starti", "_tensor" LBX_BEGIN },
	{ "hook-attach", "_lb_attach" },
	{ "hookpost-attach", "_lb_attached" },
	{ "hookpost-delete", "_tensor" LBX_DELETED },
	{ "hookpost-disable", "_tensor" LBX_DELETED },
	/* in case it was not to quit (program.c), and what gdb 18 may forget (bridge.c); what steps does so in the program's
	 * frame (definitions.c) */
	{ "hook-continue", "_lb_goes" },
	{ "hook-next", "_lb_steps" },
	{ "hook-step", "_lb_steps" },
	{ "hook-nexti", "_lb_goes" },
	{ "hook-stepi", "_lb_goes" },
	{ "hook-until", "_lb_steps" },
	{ "hook-finish", "_lb_goes" },
	{ "hook-advance", "_lb_goes" },
	{ "hook-jump", "_lb_goes" },
	{ "hook-signal", "_lb_goes" },
	{ "target hookpost-remote", "_tensor" LBX_HIT " start" },
	{ "target hookpost-extended-remote", "_tensor" LBX_HIT " start" },
};
enum { HOOKS = sizeof hooks / sizeof *hooks };

static bool defined, taken[HOOKS];
static unsigned uses; /* of stops, by their bits */
/* The hook-stop: gdb has one for all. */
static enum { UNKNOWN, FREE, THEIRS, OURS } stop;

/* One of the user's may call ours. */
static bool ask_stop(void)
{
	const char *there, *hook;

	if (stop == OURS)
		return true;
	if (!lbx_bridge_ask(&there, LBX_WITHOUT_FRAME, "complete hook-stop"))
		return false;
	if (strncmp(there, "hook-stop", 9) != 0) {
		stop = FREE;
		return true;
	}
	if (!lbx_bridge_ask(&hook, LBX_WITHOUT_FRAME, "show user hook-stop"))
		return false;
	stop = strstr(hook, "_tensor_stopped") ? OURS : THEIRS;
	return true;
}

bool lbx_hooks_ask(void)
{
	const char *there;
	bool known = ask_stop();

	for (int i = 0; i < HOOKS && !defined; i++) {
		/* unlike `show user` it does not fail where there is none */
		if (!lbx_bridge_ask(&there, LBX_WITHOUT_FRAME, "complete %s", hooks[i][0]))
			known = false;
		else
			taken[i] = strstr(there, hooks[i][0]) != NULL;
	}
	return known || !lbx_bridge_waits();
}

bool lbx_hooks_reach_stops(void)
{
	return stop != THEIRS;
}

void lbx_hooks_define(void)
{
	for (int i = 0; i < HOOKS && !defined; i++)
		if (!taken[i])
			lbx_bridge_script("define %s\n%s\nend", hooks[i][0], hooks[i][1]);
	defined = true;
	if (stop == FREE) {
		lbx_bridge_script("define hook-stop\n_tensor_stopped\nend");
		stop = OURS;
	}
	lbx_bridge_script("set $_lb_stops = %d", stop == OURS);
}

void lbx_hooks_use_stops(enum lbx_stop_use use, bool on)
{
	uses = on ? uses | 1U << use : uses & ~(1U << use);
	lbx_bridge_script("set $_lb_automatic = %d", uses != 0 || lbx_front_end_shows_stops());
}

bool lbx_hooks_use_any_stop(void)
{
	return uses != 0;
}
