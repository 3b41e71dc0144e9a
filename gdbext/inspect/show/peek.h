#ifndef LBX_PEEK_H
#define LBX_PEEK_H

#include "inspect/command.h"

bool lbx_run_peek(struct lbx_context *context, const struct lbx_args *args);

#endif
