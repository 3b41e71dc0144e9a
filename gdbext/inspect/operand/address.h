/* What the user means by ADDRESS. */
#ifndef LBX_ADDRESS_H
#define LBX_ADDRESS_H

#include "inspect/command.h"

struct lbx_value;

/* The value of an expression of the program; of an array or a function, its place. */
bool lbx_evaluate_address(struct lbx_context *context, const char *text, struct lbx_value *ret);
/* A number, or such an expression. */
bool lbx_parse_address(struct lbx_context *context, const char *text, uint64_t *ret);

#endif
