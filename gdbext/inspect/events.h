#ifndef LBX_EVENTS_H
#define LBX_EVENTS_H

#include "inspect/command.h"

bool lbx_run_events(struct lbx_context *context, const struct lbx_args *args);

#endif
