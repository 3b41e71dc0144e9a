/* What the scripts' own lines do. */
#ifndef LBX_PLUGIN_COMMANDS_LINES_H
#define LBX_PLUGIN_COMMANDS_LINES_H

#include "plugin/bridge/lines.h"

/* Ended by one without a name. */
extern const struct lbx_line lbx_gdb_lines[];

/* NULL when there is none. */
const struct lbx_line *lbx_gdb_line(const char *name);

#endif
