/* The commands of gdb: runs a line that the bridge brings, a row of one of the tables, or one of the scripts' own. */
#ifndef LBX_PLUGIN_COMMANDS_H
#define LBX_PLUGIN_COMMANDS_H

void lbx_commands_run(const char *line);

#endif
