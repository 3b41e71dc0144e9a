#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/plural.h"
#include "plugin/command.h"
#include "plugin/stops/switches.h"

static void tell_stacks(struct lbx_out *out, const struct lbx_switch_place *place, uint32_t depth)
{
	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:i,s:b}", "stacks", (int)depth, "next_run", !place->running));
	lbx_wrap(out, 0, 4);
	if (place->running && depth)
		lbx_printf(out, "Of each tensor made from now on, %u frame%s kept.\n", depth,
			   LB_PLURAL(depth, " is", "s are"));
	else if (place->running)
		lbx_printf(out, "Of each tensor made from now on, the call site is kept.\n");
	else if (place->process)
		lbx_printf(out, "From the runtime's start on %u frames of each tensor's creation are kept.\n", depth);
	else
		lbx_printf(out,
			   "The next `run`, `target remote` or `attach` keeps %u frames of each tensor's creation.\n",
			   depth);
	lbx_end(out);
}

/* The switch is a word in the program's memory; a program that is still to run gets it by its
 * environment. */
static bool run_stacks(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_switch_place place;
	char *end, number[32];

	if (!lbx_switch_find(context, &place))
		return false;
	if (args->n == 0) {
		if (!place.running)
			return lb_fail("stacks: no program with the runtime runs; `tensor stacks N` sets what the "
				       "next one keeps");
		tell_stacks(context->out, &place, place.root.want_stack);
		return true;
	}
	unsigned long depth = strtoul(args->v[0], &end, 10);
	if (*end || end == args->v[0] || depth > LB_STACK_MAX)
		return lb_fail("stacks: takes a number of frames from 0 to %d, not '%s'", LB_STACK_MAX, args->v[0]);
	snprintf(number, sizeof number, "%lu", depth);
	if (!lbx_switch_set(context, &place, LBX_SWITCH_STACKS, (uint32_t)depth, number))
		return false;
	tell_stacks(context->out, &place, (uint32_t)depth);
	return true;
}

const struct lbx_command lbx_gdb_command_stacks = {
	.name = "stacks",
	.arguments = lbx_arguments_stacks,
	.max_args = 1,
	.summary = "keep the creation stacks of the tensors to come",
	.help = "Keeps DEPTH frames of each, 0 for the call site alone; `tensor info T` shows them. Works "
		"before\n`run` and in a running program. It costs a stack walk for each tensor that "
		"is made.",
	.run = run_stacks,
};
