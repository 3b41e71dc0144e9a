/* Values that hold a tensor's record without being a pointer to it, as those of C++ classes. */
#ifndef LBX_WRAPPED_H
#define LBX_WRAPPED_H

#include "inspect/context.h"

/* The record that an expression's value holds, 0 where it holds none. False: it is no such value. Quiet, also where the
 * debugger has not answered yet. */
bool lbx_find_wrapped(struct lbx_context *context, const struct lbx_provider *provider, const char *text,
		      uint64_t *ret);

#endif
