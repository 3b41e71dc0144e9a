/* The calls of ggml's scheduler that compute a graph, as the threads' stacks show them. */
#ifndef LBX_PLUGIN_GGML_GRAPH_CALL_H
#define LBX_PLUGIN_GGML_GRAPH_CALL_H

#include "ggml/callback.h"
#include "inspect/command.h"

/* Whether a thread computes a graph, by ggml's scheduler, as far as that may be; and where the call of its function will
 * return to, 0 if that is not known. False while the answer is awaited. */
bool lbx_graph_call(struct lbx_context *context, const struct lbx_ggml_callback *callback, bool *ret,
		    uint64_t *ret_end);

#endif
