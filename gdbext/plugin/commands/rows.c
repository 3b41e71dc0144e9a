#include "plugin/commands/commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/forensics/threads.h"
#include "plugin/reads/stacks_gdb.h"
#include "plugin/stops/catch.h"
#include "plugin/stops/step.h"
#include "plugin/stops/switches.h"

/* ---- stacks ---- */

static void print_stacks(struct lbx_out *out, uint32_t depth)
{
	if (depth)
		lbx_printf(out, "Of each tensor made from now on, %u frame%s kept.\n", depth, LB_PLURAL(depth, " is", "s are"));
	else
		lbx_printf(out, "Of each tensor made from now on, the call site is kept.\n");
}

/* The switch is a word in the program's memory; a program that is still to run gets it by its
 * environment. */
static bool stacks_run(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_switch_place place;
	char *end, number[32];

	if (!lbx_switch_find(context, &place))
		return false;
	if (args->n == 0) {
		if (!place.running)
			return lb_fail("stacks: no program with the runtime runs; `tensor stacks N` sets what the "
				       "next one keeps");
		print_stacks(context->out, place.root.want_stack);
		return true;
	}
	unsigned long depth = strtoul(args->v[0], &end, 10);
	if (*end || end == args->v[0] || depth > LB_STACK_MAX)
		return lb_fail("stacks: takes a number of frames from 0 to %d, not '%s'", LB_STACK_MAX,
			       args->v[0]);
	snprintf(number, sizeof number, "%lu", depth);
	if (!lbx_switch_set(context, &place, LBX_SWITCH_STACKS, (uint32_t)depth, number))
		return false;
	lbx_wrap(context->out, 0, 4);
	if (place.running)
		print_stacks(context->out, (uint32_t)depth);
	else
		lbx_printf(context->out, place.process ? "From the runtime's start on %lu frames of each tensor's creation are kept.\n"
			   : "The next `run`, `target remote` or `attach` keeps %lu frames of each tensor's creation.\n",
			   depth);
	return true;
}

/* ---- locals ---- */

static bool locals_run(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_args level;
	char words[32];
	int selected;

	if (!lbx_stacks_gdb_selected(&selected))
		return false;
	snprintf(words, sizeof words, "%d%s", selected, lbx_args_option(args, "all") ? " --all" : "");
	return lbx_args_parse(lbx_command_find(lbx_commands, "frame"), words, &level) && lbx_run_frame(context, &level);
}

/* ---- help ---- */

static void list_rows(struct lbx_out *out, const struct lbx_command *row)
{
	for (; row->name; row++) {
		if (row->needs & LBX_GDB_LACKS)
			continue;
		lbx_wrap(out, 0, 4);
		lbx_printf(out, "tensor %s%s%s -- %s\n", row->name, *row->arguments ? " " : "",
			   row->arguments, row->summary);
	}
}

static bool help_run(struct lbx_context *context, const struct lbx_args *args)
{
	const struct lbx_command *command;

	for (const struct lbx_command *const *table = lbx_gdb_tables; *table && args->n == 0; table++)
		list_rows(context->out, *table);
	if (args->n == 0)
		return true;
	command = lbx_gdb_command(args->v[0]);
	if (!command)
		return lb_fail("help: there is no command 'tensor %s': `tensor help` lists them", args->v[0]);
	lbx_command_help(context->out, command, "tensor ", "tensor ");
	return true;
}

/* ---- the rows ---- */

#define ROW(function, ...) { __VA_ARGS__, .run = function },
const struct lbx_command lbx_gdb_commands[] = {
#include "plugin/commands/commands.def"
	{.name = NULL},
};
#undef ROW

const struct lbx_command *const lbx_gdb_tables[] = {lbx_commands, lbx_gdb_commands, NULL};

const struct lbx_command *lbx_gdb_command(const char *name)
{
	const struct lbx_command *command = lbx_command_find(lbx_commands, name);

	if (!command)
		command = lbx_command_find(lbx_gdb_commands, name);
	return command && !(command->needs & LBX_GDB_LACKS) ? command : NULL;
}
