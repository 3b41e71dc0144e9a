#ifndef LBX_FREED_H
#define LBX_FREED_H

#include "inspect/command.h"

/* A freed tensor whose record has not been used again; its data is 0 unless its bytes are still in the
 * cache. False, without an error, when there is none. */
bool lbx_freed_find(struct lbx_table *table, uint64_t id, struct lbx_tensor *ret);

#endif
