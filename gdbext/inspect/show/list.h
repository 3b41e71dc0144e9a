#ifndef LBX_LIST_H
#define LBX_LIST_H

#include "inspect/command.h"

bool lbx_run_list(struct lbx_context *context, const struct lbx_args *args);

#endif
