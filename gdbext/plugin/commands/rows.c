#include "plugin/commands/commands.h"

#include <stdio.h>

#include "base/error.h"
#include "plugin/command.h"

#define COMMAND(name, arguments, used_for) &lbx_gdb_command_##name,
const struct lbx_command *const lbx_gdb_commands[] = {
#include "plugin/commands.def"
	NULL,
};
#undef COMMAND

const struct lbx_command *const *const lbx_gdb_tables[] = { lbx_commands, lbx_gdb_commands, NULL };

const struct lbx_command *lbx_gdb_command(const char *name)
{
	const struct lbx_command *command = lbx_command_find(lbx_commands, name);

	if (!command)
		command = lbx_command_find(lbx_gdb_commands, name);
	return command && !(command->needs & LBX_GDB_LACKS) ? command : NULL;
}

static void list_rows(struct lbx_out *out, const struct lbx_command *const *table)
{
	for (; *table; table++) {
		const struct lbx_command *row = *table;

		if (row->needs & LBX_GDB_LACKS)
			continue;
		lbx_wrap(out, 0, 4);
		lbx_printf(out, "tensor %s%s%s -- %s\n", row->name, *row->arguments ? " " : "", row->arguments,
			   row->summary);
	}
}

static bool run_help(struct lbx_context *context, const struct lbx_args *args)
{
	const struct lbx_command *command;

	for (const struct lbx_command *const *const *table = lbx_gdb_tables; *table && args->n == 0; table++)
		list_rows(context->out, *table);
	if (args->n == 0)
		return true;
	command = lbx_gdb_command(args->v[0]);
	if (!command)
		return lb_fail("help: there is no command 'tensor %s': `tensor help` lists them", args->v[0]);
	lbx_command_help(context->out, command, "tensor ", "tensor ");
	return true;
}

const struct lbx_command lbx_gdb_command_help = {
	.name = "help",
	.arguments = lbx_arguments_help,
	.max_args = 1,
	.summary = "list the commands, or explain one",
	.help = "The same texts as `help tensor COMMAND`.",
	.run = run_help,
};
