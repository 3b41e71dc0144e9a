#ifndef LBX_SAVE_H
#define LBX_SAVE_H

#include "inspect/command.h"

bool lbx_run_save(struct lbx_context *context, const struct lbx_args *args);

#endif
