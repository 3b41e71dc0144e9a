#ifndef LBX_EVENTS_H
#define LBX_EVENTS_H

#include "inspect/command.h"

/* The last few, as part of something larger; the table must be open. */
bool lbx_events_show(struct lbx_context *context, int64_t last);
json_t *lbx_events_json(struct lbx_context *context, int64_t last); /* NULL with an error */

#endif
