/* Lines and histograms of a tensor's values, in text. */
#ifndef LBX_PLOT_H
#define LBX_PLOT_H

#include "inspect/command.h"

bool lbx_run_plot(struct lbx_context *context, const struct lbx_args *args);
bool lbx_run_hist(struct lbx_context *context, const struct lbx_args *args);

#endif
