/* Names for data addresses, so that stock gdb prints `<tensor q_proj+64>` beside a pointer. */
#ifndef LBX_PLUGIN_ADDRESS_NAMES_H
#define LBX_PLUGIN_ADDRESS_NAMES_H

#include <gdb/jit-reader.h>
#include <stdbool.h>

#include "table/table.h"

/* Opens the file that stands for their source, once in gdb's life. */
bool lbx_address_names_open(void);
/* Opens a gdb object with one block over the elements of each named tensor that has a value
 * now. For use by the reader's read() only. Silent about failures: gdb is reading symbols. */
void lbx_address_names_publish(struct gdb_symbol_callbacks *cb);
/* Whether tensors have come, gone or been computed since. */
bool lbx_address_names_are_stale(struct lbx_table *table);

#endif
