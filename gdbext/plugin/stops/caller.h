/* Whose call a stop in a library is in, and which call. */
#ifndef LBX_PLUGIN_CALLER_H
#define LBX_PLUGIN_CALLER_H

#include "ggml/callback.h"
#include "inspect/command.h"

/* The level of the innermost frame of the selected thread that is neither of the module that holds `code`, which is ggml,
 * nor of a library that is built on it, such as libllama: one with a line if there is, else with a name; else the
 * outermost of theirs. -1: the frames are not known, or not yet. */
int lbx_caller_level(struct lbx_context *context, uint64_t code);

/* Whether a thread computes a graph, by ggml's scheduler, as far as that may be; and where the call of its function will
 * return to, 0 if that is not known. False while the answer is awaited. */
bool lbx_graph_call(struct lbx_context *context, const struct lbx_ggml_callback *callback, bool *ret,
		    uint64_t *ret_end);

#endif
