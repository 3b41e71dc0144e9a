/* What is shown of tensors wherever the program stops: `tensor display`. */
#ifndef LBX_PLUGIN_DISPLAY_H
#define LBX_PLUGIN_DISPLAY_H

#include "inspect/command.h"

/* One line for each, with its number. False where gdb has not answered yet, or the user does not want to wait. */
bool lbx_displays_show(struct lbx_context *context);

#endif
