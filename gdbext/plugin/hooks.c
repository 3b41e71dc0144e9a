#include "plugin/hooks.h"

#include <string.h>

#include "plugin/bridge.h"
#include "plugin/commands.h"

static const char *const hooks[][2] = {
	{"hook-detach", LBX_LEAVE}, {"hook-disconnect", LBX_LEAVE}, {"hook-quit", LBX_LEAVE},
	{"hook-run", LBX_BEGIN}, {"hook-start", LBX_BEGIN}, {"hook-attach", LBX_BEGIN},
	{"hookpost-attach", LBX_HIT " start"}, {"hookpost-delete", LBX_DELETED},
	{"target hookpost-remote", LBX_HIT " start"}, {"target hookpost-extended-remote", LBX_HIT " start"},
};
enum { HOOKS = sizeof hooks / sizeof *hooks };

static bool defined, taken[HOOKS];

bool lbx_hooks_ask(void)
{
	const char *there;
	bool known = true;

	for (int i = 0; i < HOOKS && !defined; i++) {
		/* unlike `show user` it does not fail where there is none */
		if (!lbx_bridge_ask(&there, LBX_WITHOUT_FRAME, "complete %s", hooks[i][0]))
			known = false;
		else
			taken[i] = strstr(there, hooks[i][0]) != NULL;
	}
	return known || !lbx_bridge_waits();
}

void lbx_hooks_define(void)
{
	for (int i = 0; i < HOOKS && !defined; i++)
		if (!taken[i])
			lbx_bridge_script("define %s\n_tensor%s\nend", hooks[i][0], hooks[i][1]);
	defined = true;
}
