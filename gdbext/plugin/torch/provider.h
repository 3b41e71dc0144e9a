/* PyTorch, as those whose programs stop at nodes are asked (stops/nodes.h): that they cannot be stopped there. */
#ifndef LBX_PLUGIN_TORCH_PROVIDER_H
#define LBX_PLUGIN_TORCH_PROVIDER_H

#include "plugin/stops/nodes.h"

extern const struct lbx_nodes_ops lbx_torch_nodes;

#endif
