#ifndef LBX_PRINT_H
#define LBX_PRINT_H

#include "inspect/command.h"

/* Of memory that is no tensor's. */
bool lbx_run_view(struct lbx_context *context, const struct lbx_args *args);
bool lbx_run_print(struct lbx_context *context, const struct lbx_args *args);

#endif
