#ifndef LBX_TREE_H
#define LBX_TREE_H

#include "inspect/command.h"

bool lbx_run_graph(struct lbx_context *context, const struct lbx_args *args);

#endif
