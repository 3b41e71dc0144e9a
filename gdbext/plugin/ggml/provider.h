/* Stops at ggml's nodes, as stops/nodes.h asks for them. */
#ifndef LBX_PLUGIN_GGML_PROVIDER_H
#define LBX_PLUGIN_GGML_PROVIDER_H

#include "plugin/stops/nodes.h"

extern const struct lbx_nodes_ops lbx_ggml_nodes;

#endif
