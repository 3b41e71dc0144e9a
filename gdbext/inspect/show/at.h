#ifndef LBX_AT_H
#define LBX_AT_H

#include "inspect/command.h"

bool lbx_run_at(struct lbx_context *context, const struct lbx_args *args);

#endif
