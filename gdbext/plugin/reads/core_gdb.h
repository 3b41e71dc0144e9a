/* The core file that gdb debugs, as our own reader of cores has it: it knows which bytes were saved. */
#ifndef LBX_PLUGIN_CORE_GDB_H
#define LBX_PLUGIN_CORE_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/target.h"

/* A command begins. */
void lbx_core_gdb_begin(void);
/* Whether gdb has a core open, of whatever program; nothing is asked. *ret is the core as read
 * without what gdb knows of its files, or NULL when there are several. */
bool lbx_core_gdb_has_open(struct lbx_target **ret);
/* The core of the program that gdb looks at; NULL without one that can be read, or before gdb has
 * answered. Valid until the command ends. */
struct lbx_target *lbx_core_of_gdb(void);
/* The same, if gdb has told it to an earlier line; nothing is asked. */
struct lbx_target *lbx_core_gdb_known(void);
/* Whether gdb has an address in a section of one of the program's files, and bytes of it. */
bool lbx_core_gdb_has_section(uint64_t address, uint64_t *ret_bytes);

#endif
