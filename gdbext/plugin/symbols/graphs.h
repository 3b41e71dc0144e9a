/* The listings of graphs in step mode, which gdb shows as the source of their code. */
#ifndef LBX_PLUGIN_GRAPHS_H
#define LBX_PLUGIN_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/bridge/bridge.h"

/* Writes the listing of the graph with its record there, for gdb, which is about to read of its code. */
void lbx_graphs_write(lbx_bridge_read *read, uint64_t record);
/* Writes the listings again that somebody has removed. Cheap when nobody has. */
void lbx_graphs_restore(lbx_bridge_read *read);
/* Why the newest graph has no listing; NULL if it has, or there is none. */
const char *lbx_graphs_refusal(void);

#endif
