/* Graphs in step mode as functions of gdb's, with listings for their source. */
#ifndef LBX_PLUGIN_GRAPHS_H
#define LBX_PLUGIN_GRAPHS_H

#include <gdb/jit-reader.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugin/bridge.h"

/* Opens a gdb object for the graph with its record there: a function over its code, a line a call.
 * For use by the reader's read() only. Without a file for the listing there is no such object. */
void lbx_graphs_publish(struct gdb_symbol_callbacks *cb, uint64_t record);
/* Writes the listings again that somebody has removed. Cheap when nobody has. */
void lbx_graphs_restore(lbx_bridge_read *read);
/* Why the newest graph has no listing; NULL if it has, or there is none. */
const char *lbx_graphs_refusal(void);

#endif
