#ifndef LBX_AT_H
#define LBX_AT_H

#include "inspect/command.h"

/* A number, or an expression of the program. */
bool lbx_parse_address(struct lbx_context *context, const char *text, uint64_t *ret);
bool lbx_run_at(struct lbx_context *context, const struct lbx_args *args);

#endif
