/* What each thread and stream evaluates now. */
#ifndef LBX_RUNNING_H
#define LBX_RUNNING_H

#include "inspect/command.h"

bool lbx_run_where(struct lbx_context *context, const struct lbx_args *args);

#endif
