#ifndef LBX_INFO_H
#define LBX_INFO_H

#include "inspect/command.h"

bool lbx_run_info(struct lbx_context *context, const struct lbx_args *args);

#endif
