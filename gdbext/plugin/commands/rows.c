#include "plugin/commands/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/name.h"
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

/* The one that a word is a misspelling of, also of the program's alone; or NULL. */
static const struct lbx_command *find_near(const char *word)
{
	enum { EDITS = 2 };
	const struct lbx_command *ret = NULL;
	int best = EDITS + 1;

	for (const struct lbx_command *const *const *table = lbx_gdb_tables; *table; table++)
		for (const struct lbx_command *const *row = *table; *row; row++) {
			int edits = lbx_edits(word, (*row)->name, EDITS);
			if (edits >= best || edits >= (int)strlen(word))
				continue;
			best = edits;
			ret = *row;
		}
	return ret;
}

bool lbx_gdb_command_fail(const char *word)
{
	const struct lbx_command *near = find_near(word);

	if (!near)
		return lb_fail("there is no command 'tensor %s': `tensor help` lists them", word);
	if (!(near->needs & LBX_GDB_LACKS))
		return lb_fail("there is no command 'tensor %s': did you mean `tensor %s`?", word, near->name);
	if (strcmp(near->name, "threads") == 0)
		return lb_fail(
		    "there is no command 'tensor %s': gdb has `info threads`; `tensor where` and `tensor bt` tell what "
		    "threads do with tensors",
		    word);
	return lb_fail("there is no command 'tensor %s': outside gdb there is `lazybones %s`, see its --help", word,
		       near->name);
}

static void list_rows(struct lbx_out *out, const struct lbx_command *const *table)
{
	for (; *table; table++) {
		const struct lbx_command *row = *table;

		if (row->needs & LBX_GDB_LACKS)
			continue;
		lbx_begin(out, NULL);
		LBX_KEY(out, "arguments", json_string(row->arguments));
		lbx_wrap(out, 0, 4);
		lbx_tell(out, "tensor %pF%s%s -- %pF\n", LBX_TEXT("name", row->name), *row->arguments ? " " : "",
			 row->arguments, LBX_TEXT("summary", row->summary));
		lbx_end(out);
	}
}

static void explain(struct lbx_out *out, const struct lbx_command *row)
{
	const int max = sizeof row->options / sizeof *row->options;

	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:s,s:s,s:s,s:s?}", "name", row->name, "arguments", row->arguments, "summary",
				row->summary, "help", row->help));
	lbx_begin_list(out, "options");
	for (int i = 0; i < max && row->options[i].name; i++)
		LBX_KEY(out, NULL,
			json_pack("{s:s,s:s?,s:s}", "name", row->options[i].name, "value", row->options[i].value,
				  "help", row->options[i].help));
	lbx_end(out);
	lbx_command_help(out, row, "tensor ", "tensor ");
	lbx_end(out);
}

static bool run_help(struct lbx_context *context, const struct lbx_args *args)
{
	const struct lbx_command *command;

	if (args->n == 0) {
		lbx_begin_list(context->out, NULL);
		for (const struct lbx_command *const *const *table = lbx_gdb_tables; *table; table++)
			list_rows(context->out, *table);
		lbx_end(context->out);
		return true;
	}
	command = lbx_gdb_command(args->v[0]);
	if (!command)
		return lbx_gdb_command_fail(args->v[0]);
	explain(context->out, command);
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
