#ifndef LBX_PRINT_H
#define LBX_PRINT_H

#include "inspect/command.h"

bool lbx_run_print(struct lbx_context *context, const struct lbx_args *args);

#endif
