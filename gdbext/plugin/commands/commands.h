/* Runs a line of the bridge: a row of the common command table, or one that only gdb has. */
#ifndef LBX_PLUGIN_COMMANDS_H
#define LBX_PLUGIN_COMMANDS_H

#include "inspect/command.h"

/* Rows of the common table that gdb leaves out: it has no such thing to offer. */
enum { LBX_GDB_LACKS = LBX_NEEDS_STACKS | LBX_NEEDS_CORES };

/* Ended by a row without a name. */
extern const struct lbx_command lbx_gdb_commands[];

/* The line that a catch's breakpoint runs: lbx_catch_hit() takes its words. */
#define LBX_HIT "_hit"
/* The line for when gdb is about to leave the program. */
#define LBX_LEAVE "_leave"
/* The line for when gdb is about to begin with another process. */
#define LBX_BEGIN "_begin"
/* The line that runs when the user has deleted breakpoints. */
#define LBX_DELETED "_deleted"

/* The line that comes in place of one with more words than the script can hand over. */
#define LBX_TOO_MANY_WORDS "_too-many-words"

void lbx_commands_run(const char *line);

/* Where T leads: decided in inspect/, with expressions evaluated by gdb. */
bool lbx_commands_tensor(struct lbx_context *context, const char *text, struct lbx_tensor *ret);

#endif
