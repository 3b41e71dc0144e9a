/* The rows of the commands that only gdb has. */
#ifndef LBX_PLUGIN_COMMAND_H
#define LBX_PLUGIN_COMMAND_H

#include "inspect/command.h"

/* By name: lbx_gdb_command_eval. Its arguments stand in the list alone: lbx_arguments_eval. */
#define COMMAND(name, arguments, used_for) \
	extern const struct lbx_command lbx_gdb_command_##name; \
	static const char lbx_arguments_##name[] = arguments;
#include "plugin/commands.def"
#undef COMMAND

#endif
