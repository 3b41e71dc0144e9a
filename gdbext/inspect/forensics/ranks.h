#ifndef LBX_RANKS_H
#define LBX_RANKS_H

#include "inspect/command.h"

bool lbx_run_ranks(struct lbx_context *context, const struct lbx_args *args);

#endif
