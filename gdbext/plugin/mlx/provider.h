/* Stops at the evaluations of MLX's arrays, as stops/nodes.h asks for them. */
#ifndef LBX_PLUGIN_MLX_PROVIDER_H
#define LBX_PLUGIN_MLX_PROVIDER_H

#include "plugin/stops/nodes.h"

extern const struct lbx_nodes_ops lbx_mlx_nodes;

#endif
