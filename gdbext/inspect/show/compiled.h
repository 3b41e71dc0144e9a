#ifndef LBX_COMPILED_H
#define LBX_COMPILED_H

#include "inspect/command.h"

bool lbx_run_compiled(struct lbx_context *context, const struct lbx_args *args);

#endif
