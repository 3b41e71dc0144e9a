/* What a stop at a catch says, and the frame that it selects: the same for all kinds. */
#ifndef LBX_PLUGIN_CATCH_STOP_H
#define LBX_PLUGIN_CATCH_STOP_H

#include "plugin/stops/catch_kinds.h"

/* The stop's arguments are known, its tensor is looked up here. May ask (lbx_bridge_waits). */
void lbx_catch_tell(struct lbx_context *context, struct lbx_catch_stop *stop);

#endif
