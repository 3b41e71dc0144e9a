/* A catch as text, as JSON, and as what gdb checks at its breakpoint. */
#ifndef LBX_PLUGIN_CATCH_FORMS_H
#define LBX_PLUGIN_CATCH_FORMS_H

#include "ggml/callback.h"
#include "plugin/stops/catch_kinds.h"

/* "range [0, 1] of q" */
void lbx_catch_describe(const struct lbx_catch *c, struct text *ret);
/* What JSON says of it, as fields of the object that is open. */
void lbx_catch_keys(const struct lbx_catch *c, struct lbx_out *out);
/* What gdb is to check at a probe of this program; nothing when every stop is wanted. */
void lbx_catch_condition(const struct lbx_catch *c, struct lbx_table *table, struct text *ret);
/* The same at ggml's nodes. Of a kind that looks at the value, and of most globs, it says only where to look. */
void lbx_catch_node_condition(const struct lbx_catch *c, const struct lbx_ggml_callback *callback,
			      const struct lbx_ggml_anchor *anchor, struct text *ret);
/* Likewise, before a node, where a thread comes to it without a scheduler. */
void lbx_catch_forward_condition(const struct lbx_catch *c, const struct lbx_ggml_callback *callback,
				 const struct lbx_ggml_anchor *anchor, struct text *ret);
/* What a glob begins with, as it stands in names; *ret_whole: any name that does matches. */
size_t lbx_glob_prefix(const char *glob, bool *ret_whole);

#endif
