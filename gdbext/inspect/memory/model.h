#ifndef LBX_MODEL_H
#define LBX_MODEL_H

#include "inspect/command.h"

bool lbx_run_model(struct lbx_context *context, const struct lbx_args *args);

#endif
