/* Catches that were set before, in a program that comes. */
#ifndef LBX_PLUGIN_CATCH_ARM_H
#define LBX_PLUGIN_CATCH_ARM_H

#include "plugin/stops/catch_watch.h"

/* After lbx_catch_refresh(): in a program whose runtime has just started, or that gdb has attached to, gives the
 * breakpoints their conditions, and makes the runtime look. */
bool lbx_catch_arm(struct lbx_context *context, const struct lbx_watch_place *place);

#endif
