#ifndef LBX_EVENTS_H
#define LBX_EVENTS_H

#include "inspect/command.h"

/* The last few, as part of something larger, of which `key` is a field; the table must be open. */
bool lbx_events_tell(struct lbx_context *context, const char *key, int64_t last);

#endif
