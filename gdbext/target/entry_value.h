/* What a register had when a function was called: by what the debug information of its caller says of that call. */
#ifndef LBX_ENTRY_VALUE_H
#define LBX_ENTRY_VALUE_H

#include "target/location.h"

/* Of the function whose frame it is. False, without error: that is not told, or not certain, as where what was called has gone
 * on to another function in place of its return. */
bool lbx_entry_value(const struct lbx_scope *scope, uint64_t number, uint64_t *ret);

#endif
