#ifndef LBX_STATS_H
#define LBX_STATS_H

#include "inspect/command.h"

bool lbx_run_stats(struct lbx_context *context, const struct lbx_args *args);

#endif
