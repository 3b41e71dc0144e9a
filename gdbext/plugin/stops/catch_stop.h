/* A stop at a catch: which it is, what is said of it, and the frame that is selected. The same for all kinds. */
#ifndef LBX_PLUGIN_CATCH_STOP_H
#define LBX_PLUGIN_CATCH_STOP_H

#include "inspect/command.h"

/* A breakpoint of a catch was hit: what happened to whom. `CATCH ARGUMENT…` of the probe, or `fault ADDRESS`. */
bool lbx_catch_hit(struct lbx_context *context, const char *words);

#endif
