#ifndef LBX_STATUS_H
#define LBX_STATUS_H

#include "inspect/command.h"

bool lbx_run_status(struct lbx_context *context, const struct lbx_args *args);

#endif
