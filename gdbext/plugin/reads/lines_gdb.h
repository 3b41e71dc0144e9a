/* Which line of the program's source an address is of: by the debug information of the program's files, as the command
 * `lazybones` finds it, and where they have none, as gdb knows it. Asked once for each, since each takes gdb a round of
 * questions. */
#ifndef LBX_PLUGIN_LINES_GDB_H
#define LBX_PLUGIN_LINES_GDB_H

#include "target/target.h"

/* A target's operation (target/target.h): asks, and fails while gdb has still to answer. */
bool lbx_gdb_source_line(struct lbx_target *target, uint64_t pc, struct lbx_source_line *ret);

#endif
