/* A program that gdb runs gets them by its environment, too, and so from the first tensor on, also
 * without a breakpoint. One that gdb connects to is told at the runtime's first probe (catch.c). */
#include "plugin/switches.h"

#include "base/error.h"

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
	return switches[which].written && switches[which].root == root->address &&
	       switches[which].pid == root->pid;
}

bool lbx_switch_put(struct lbx_context *context, const struct lbx_root *root, enum lbx_switch which,
		  uint32_t value)
{
	uint32_t now;
	uint64_t at = find(root, which, &now);

	if (!at)
		return lb_fail(which == LBX_SWITCH_STEP ? "step: the program's runtime (%s) has no step mode"
						     : "stacks: the program's runtime (%s) keeps none", root->version);
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

void lbx_switch_wish(enum lbx_switch which, uint32_t value)
{
	switches[which].wished = true;
	switches[which].wish = value;
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
		if (switches[i].wished && !lbx_switch_put(context, root, (enum lbx_switch)i, switches[i].wish))
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
