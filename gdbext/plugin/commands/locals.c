#include <stdio.h>

#include "plugin/bridge/bridge.h"
#include "plugin/command.h"

static bool run_locals(struct lbx_context *context, const struct lbx_args *args)
{
	const char *words[] = { NULL, lbx_args_option(args, "all") ? "--all" : NULL, NULL };
	struct lbx_args level;
	char number[16];
	int selected;

	if (!lbx_bridge_ask_level(&selected))
		return false;
	snprintf(number, sizeof number, "%d", selected);
	words[0] = number;
	return lbx_args_parse(&lbx_command_frame, words, &level) && lbx_command_frame.run(context, &level);
}

const struct lbx_command lbx_gdb_command_locals = {
	.name = "locals",
	.arguments = lbx_arguments_locals,
	.needs = LBX_NEEDS_TENSORS | LBX_NEEDS_FRAMES,
	.summary = "show the tensors that the selected frame's variables hold",
	.help = "Arguments and local variables that are tensors, lead to one, or point to the "
		"elements of\none; also in arrays and structs. `tensor frame` shows those of every "
		"frame.",
	.options = {
		{ "all", NULL, "each tensor, where the frame holds many" },
	},
	.run = run_locals,
};
