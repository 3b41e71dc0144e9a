#include "inspect/command.h"

#define COMMAND(name) &lbx_command_##name,
const struct lbx_command *const lbx_commands[] = {
#include "inspect/commands.def"
	NULL,
};
