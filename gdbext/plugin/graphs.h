/* Graphs in step mode as functions of gdb's, with listings for their source. */
#ifndef LBX_PLUGIN_GRAPHS_H
#define LBX_PLUGIN_GRAPHS_H

#include <gdb/jit-reader.h>
#include <stdbool.h>
#include <stdint.h>

enum { LBX_GRAPHS_FD = 905 };
/* Where gdb finds the listings: whatever folder has this descriptor of gdb's own. */
#define LBX_GRAPHS_FOLDER "/proc/self/fd/905"

/* Opens a gdb object for the graph with its record there: a function over its code, a line a call.
 * For use by the reader's read() only. Silent about failures: gdb is reading symbols. */
void lbx_graphs_publish(struct gdb_symbol_callbacks *cb, uint64_t record);

#endif
