/* Nodes that ggml may compute as one with the next, and then leaves without a value of their own. */
#ifndef LBX_GGML_FUSED_H
#define LBX_GGML_FUSED_H

#include "ggml/layout.h"
#include "ggml/progress.h"

/* By ordinal; `modules` may export the function that does it. False only without memory. */
bool lbx_ggml_find_fused(const struct lbx_ggml_program *program, const struct lbx_ggml_layout *layout,
			 const struct lbx_loaded *modules, int n_modules, bool *ret);

#endif
