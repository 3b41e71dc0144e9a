/* The debug information of the program that gdb debugs, as this reader has it: that of the program's own files. */
#ifndef LBX_PLUGIN_DEBUG_INFO_H
#define LBX_PLUGIN_DEBUG_INFO_H

#include "target/lines.h"
#include "target/target.h"

/* NULL: not known, or not yet. */
struct lbx_lines *lbx_debug_info_gdb(struct lbx_target *target);

#endif
