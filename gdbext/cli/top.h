/* lazybones top: a live screen of a running program. */
#ifndef LBX_CLI_TOP_H
#define LBX_CLI_TOP_H

#include "inspect/out.h"

/* argv: `top`, and what follows; text goes to `out` where there is no screen, or JSON if it says so.
 * Returns the exit status. */
int lbx_top(char **argv, struct lbx_out *out);

#endif
