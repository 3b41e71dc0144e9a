/* The program and the libraries that it had loaded, and whether their files here are the same. */
#ifndef LBX_MODULES_H
#define LBX_MODULES_H

#include "inspect/command.h"

/* A line for each module whose names are not known, or doubtful: "  PATH is missing, …". Returns how
 * many there are. */
int lbx_print_bad_modules(struct lbx_context *context);
json_t *lbx_json_modules(struct lbx_context *context);
/* "same", "missing", … */
const char *lbx_verdict_name(enum lbx_verdict verdict);

#endif
