/* What the breakpoints of this room say, and which catches stop there. */
#ifndef LBX_PLUGIN_MLX_HEARD_H
#define LBX_PLUGIN_MLX_HEARD_H

#include "inspect/command.h"

/* The words behind whose they are, as lbx_mlx_nodes.hear() is given them. */
bool lbx_heard(struct lbx_context *context, const char *words);
/* Whether the program stands where it last stopped in front of an evaluation; false, too, where that is not known. */
bool lbx_heard_stands(struct lbx_context *context);
/* The library has been loaded since the process began. */
bool lbx_heard_load(void);
void lbx_heard_forget(void);

#endif
