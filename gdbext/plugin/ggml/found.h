/* What the program has of ggml, as far as stops need it: looked for once in a process. */
#ifndef LBX_PLUGIN_GGML_FOUND_H
#define LBX_PLUGIN_GGML_FOUND_H

#include "ggml/callback.h"
#include "plugin/stops/nodes.h"

/* Looks at the program, where that is not known yet. False while the answer is awaited. */
bool lbx_found_find(struct lbx_context *context, enum lbx_nodes_there *ret);
const char *lbx_found_why(void);
/* Of the program where they are there. */
const struct lbx_ggml_callback *lbx_found_callback(void);
const struct lbx_ggml_anchor *lbx_found_anchor(void);
/* Whether what is known now stays so, as long as the process is this one. */
void lbx_found_keep(bool is_kept);
/* Whether the process is that one, as far as that shows. */
bool lbx_found_is_here(struct lbx_context *context);

#endif
