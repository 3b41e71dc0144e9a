#ifndef LBX_OWNER_H
#define LBX_OWNER_H

#include "inspect/command.h"

bool lbx_run_owner(struct lbx_context *context, const struct lbx_args *args);

#endif
