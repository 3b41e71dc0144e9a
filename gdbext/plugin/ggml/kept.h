/* What schedulers had in their slots before gdb wrote there, as gdb's own variables have it (slots.c). */
#ifndef LBX_PLUGIN_GGML_KEPT_H
#define LBX_PLUGIN_GGML_KEPT_H

#include "inspect/command.h"

/* These are false while the answer is awaited; nothing has been done then. */

/* Puts it back. A callback of the program's own may always be: a slot that has one stays full. *ret_rest: there are others. */
bool lbx_kept_put_back(struct lbx_context *context, bool only_own, bool *ret_rest);
/* Whether a callback would be called with a node's value that it did not want, were it put back now. */
bool lbx_kept_ask_declined(bool *ret);

#endif
