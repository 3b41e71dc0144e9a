/* Whether a program that is debugged through gdbserver has run. */
#ifndef LBX_PLUGIN_MOMENT_GDB_H
#define LBX_PLUGIN_MOMENT_GDB_H

#include <stdbool.h>
#include <stdint.h>

/* As lbx_target_moment(): false also where the other end has no such files, as a simulator. */
bool lbx_moment_gdb_remote(uint64_t *ret);

#endif
