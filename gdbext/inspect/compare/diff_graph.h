/* Two listings, line by line: what a recompilation, or another round, does otherwise. */
#ifndef LBX_DIFF_GRAPH_H
#define LBX_DIFF_GRAPH_H

#include "inspect/command.h"

bool lbx_run_diff_graph(struct lbx_context *context, const struct lbx_args *args);

#endif
