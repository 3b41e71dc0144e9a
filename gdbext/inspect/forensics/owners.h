/* Who holds a tensor: its memory, those that share it or are computed from it, variables, and pointers in memory. */
#ifndef LBX_OWNERS_H
#define LBX_OWNERS_H

#include "inspect/command.h"

/* At most `limit` of each; 0: all. */
bool lbx_tell_owners(struct lbx_context *context, const struct lbx_tensor *t, int64_t limit);

#endif
