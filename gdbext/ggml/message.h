/* What ggml says when it gives up. */
#ifndef LBX_GGML_MESSAGE_H
#define LBX_GGML_MESSAGE_H

#include "target/target.h"

/* In the part of the stack of n bytes that belongs to ggml_abort(): "ops.cpp:4711: GGML_ASSERT(…) failed", printable;
 * "" where it does not lie there. */
void lbx_ggml_find_message(struct lbx_target *target, uint64_t start, size_t n, char *ret, size_t size);

#endif
