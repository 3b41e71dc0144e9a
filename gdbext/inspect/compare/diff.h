#ifndef LBX_DIFF_H
#define LBX_DIFF_H

#include "inspect/command.h"

bool lbx_run_diff(struct lbx_context *context, const struct lbx_args *args);

#endif
