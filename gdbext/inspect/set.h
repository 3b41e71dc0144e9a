#ifndef LBX_SET_H
#define LBX_SET_H

#include "inspect/command.h"

bool lbx_run_set(struct lbx_context *context, const struct lbx_args *args);

#endif
