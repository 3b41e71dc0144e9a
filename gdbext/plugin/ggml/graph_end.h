/* Where a call of ggml that computes a graph without a scheduler ends. */
#ifndef LBX_PLUGIN_GGML_GRAPH_END_H
#define LBX_PLUGIN_GGML_GRAPH_END_H

#include "inspect/command.h"

/* Where the selected thread, which is within ggml, will return to the program's own code; 0: that is not known. False while the
 * answer is awaited. */
bool lbx_graph_end(struct lbx_context *context, uint64_t *ret);

#endif
