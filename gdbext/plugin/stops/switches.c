/* A program that gdb runs gets them by its environment, too, and so from the first tensor on, also
 * without a breakpoint. One that gdb connects to is told at the runtime's first probe (program.c). */
#include "plugin/stops/switches.h"

#include "base/error.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/hooks.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/stops/breakpoints.h"

static struct {
	bool wished, written;
	uint32_t wish;
	uint64_t root, pid;     /* of the process that has been written to: */
	uint32_t before, value; /* what, in place of what */
} switches[LBX_SWITCHES];

static uint64_t find(const struct lbx_root *root, enum lbx_switch which, uint32_t *now)
{
	*now = which == LBX_SWITCH_STEP ? root->step : root->want_stack;
	return which == LBX_SWITCH_STEP ? root->step_at : root->want_stack_at;
}

static bool is_written(const struct lbx_root *root, int which)
{
	return switches[which].written && switches[which].root == root->address && switches[which].pid == root->pid;
}

static bool put(struct lbx_context *context, const struct lbx_root *root, enum lbx_switch which, uint32_t value)
{
	uint32_t now;
	uint64_t at = find(root, which, &now);

	if (!at)
		return lb_fail(which == LBX_SWITCH_STEP ? "step: the program's runtime (%s) has no step mode"
							: "stacks: the program's runtime (%s) keeps none",
			       root->version);
	if (now == value)
		return true;
	if (!lbx_target_write(context->target, at, &value, sizeof value))
		return false;
	if (!is_written(root, which))
		switches[which].before = now;
	switches[which].written = true;
	switches[which].root = root->address;
	switches[which].pid = root->pid;
	switches[which].value = value;
	return true;
}

bool lbx_switch_find(struct lbx_context *context, struct lbx_switch_place *ret)
{
	struct lbx_table *table = NULL;
	enum lbx_liveness liveness = context->target ? lbx_target_gdb_liveness() : LBX_UNKNOWN;

	ret->process = context->target && liveness != LBX_CORE;
	ret->running = ret->process && lbx_context_table(context, &table) && lbx_table_root(table, &ret->root);
	if (lbx_bridge_waits())
		return false;
	if (!ret->running)
		lb_clear_error();
	return true;
}

bool lbx_switch_set(struct lbx_context *context, const struct lbx_switch_place *place, enum lbx_switch which,
		    uint32_t value, const char *environment)
{
	if (!lbx_breakpoints_refresh() || !lbx_hooks_ask())
		return false;
	lbx_hooks_define();
	/* `run` needs no breakpoint */
	if (place->process && !place->running && value != 0)
		lbx_breakpoint_need_start(LBX_START_FOR_SWITCHES);
	switches[which].wished = true;
	switches[which].wish = value;
	if (!lbx_switches_wait())
		lbx_breakpoint_release_start(LBX_START_FOR_SWITCHES);
	lbx_bridge_script("set environment LAZYBONES_%s %s", which == LBX_SWITCH_STEP ? "STEP" : "STACKS", environment);
	return !place->running || put(context, &place->root, which, value);
}

bool lbx_switch_wished(enum lbx_switch which, uint32_t *ret)
{
	*ret = switches[which].wish;
	return switches[which].wished;
}

bool lbx_switches_wait(void)
{
	for (int i = 0; i < LBX_SWITCHES; i++)
		if (switches[i].wished && switches[i].wish != 0)
			return true;
	return false;
}

bool lbx_switches_put_wishes(struct lbx_context *context, const struct lbx_root *root)
{
	for (int i = 0; i < LBX_SWITCHES; i++)
		if (switches[i].wished && !put(context, root, (enum lbx_switch)i, switches[i].wish))
			return false;
	return true;
}

bool lbx_switches_take_back(struct lbx_context *context, const struct lbx_root *root)
{
	for (int i = 0; i < LBX_SWITCHES; i++) {
		uint32_t now;
		uint64_t at = find(root, (enum lbx_switch)i, &now);

		if (is_written(root, i) && at && now == switches[i].value &&
		    !lbx_target_write(context->target, at, &switches[i].before, sizeof now))
			return false;
		switches[i].written = false;
	}
	return true;
}
