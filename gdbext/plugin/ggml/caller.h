/* Whose call a stop in a library is in. */
#ifndef LBX_PLUGIN_GGML_CALLER_H
#define LBX_PLUGIN_GGML_CALLER_H

#include "inspect/command.h"

/* The level of the innermost frame of the selected thread that is neither of the module that holds `code`, which is ggml,
 * nor of a library that is built on it, such as libllama: one with a line if there is, else with a name; else the
 * outermost of theirs. -1: the frames are not known, or not yet. */
int lbx_caller_level(struct lbx_context *context, uint64_t code);

#endif
