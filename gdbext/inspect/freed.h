#ifndef LBX_FREED_H
#define LBX_FREED_H

#include "inspect/command.h"

bool lbx_run_freed(struct lbx_context *context, const struct lbx_args *args);

#endif
