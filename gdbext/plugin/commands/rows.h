/* What there is in gdb: the rows of the common table, and those that only gdb has (commands.def). */
#ifndef LBX_PLUGIN_ROWS_H
#define LBX_PLUGIN_ROWS_H

#include "plugin/bridge/script.h"

/* Ended by a row without a name. */
extern const struct lbx_command lbx_gdb_commands[];
/* Both tables, NULL at the end; gdb leaves out what needs something of LBX_GDB_LACKS. */
extern const struct lbx_command *const lbx_gdb_tables[];

/* NULL when gdb has no such command. */
const struct lbx_command *lbx_gdb_command(const char *name);

#endif
