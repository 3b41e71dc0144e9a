/* The gdb side of the commands: `define` and `document` for each row of the command tables. */
#ifndef LBX_PLUGIN_SCRIPT_H
#define LBX_PLUGIN_SCRIPT_H

#include "inspect/command.h"
#include "plugin/bridge/lines.h"

/* Rows of the common table that gdb leaves out: it has no such thing to offer. */
enum { LBX_GDB_LACKS = LBX_NEEDS_STACKS | LBX_NEEDS_CORES };

/* What the commands rely on (definitions.c). */
extern const char lbx_definitions[];

/* Writes the script to where the loader sources it. `tables`, NULL at its end, and `lines` are of what is defined. */
bool lbx_script_offer(const struct lbx_command *const *const *tables, const struct lbx_line *lines);
/* The path that gdb loaded this library from. */
const char *lbx_script_plugin_path(void);

#endif
