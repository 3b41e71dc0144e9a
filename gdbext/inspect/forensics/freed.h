#ifndef LBX_FREED_H
#define LBX_FREED_H

#include "inspect/command.h"

/* A freed tensor of a set whose record has not been used again, as the runtime leaves them; its data is 0 unless its
 * bytes are still in the cache. False, without an error, when there is none, or id is 0. */
bool lbx_freed_find(struct lbx_context *context, const struct lbx_tensors *of, uint64_t id, struct lbx_tensor *ret);

#endif
