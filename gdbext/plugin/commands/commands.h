/* What there is in gdb, and what runs it. */
#ifndef LBX_PLUGIN_COMMANDS_H
#define LBX_PLUGIN_COMMANDS_H

#include "plugin/bridge/script.h"

/* Runs a line that the bridge brings: a row of one of the tables, or one of the scripts' own. */
void lbx_commands_run(const char *line);

/* The rows that only gdb has, and NULL. */
extern const struct lbx_command *const lbx_gdb_commands[];
/* The common table and this one, NULL at the end; gdb leaves out what needs something of LBX_GDB_LACKS. */
extern const struct lbx_command *const *const lbx_gdb_tables[];
/* NULL when gdb has no such command. */
const struct lbx_command *lbx_gdb_command(const char *name);
/* Says that a word is none, and which was meant, if one is near. */
bool lbx_gdb_command_fail(const char *word);

/* The lines that the scripts send by themselves, ended by one without a name. */
extern const struct lbx_line lbx_gdb_lines[];
/* NULL when there is none. */
const struct lbx_line *lbx_gdb_line(const char *name);

/* At LBX_CALL: tells what has come of `tensor eval`. */
bool lbx_eval_end(struct lbx_context *context);

#endif
