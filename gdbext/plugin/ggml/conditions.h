/* What gdb checks at the breakpoints of this room, as text. Numbers are in hexadecimal: gdb reads a condition anew whenever
 * code is loaded, in the user's `input-radix`. */
#ifndef LBX_PLUGIN_GGML_CONDITIONS_H
#define LBX_PLUGIN_GGML_CONDITIONS_H

#include "ggml/callback.h"
#include "plugin/stops/call_words.h"
#include "plugin/stops/catch_kinds.h"

/* At what is in the slots: a node that the catch means, asked for at the right time. Of a kind that looks at the value,
 * and of most globs, it says only where to look. */
void lbx_slot_condition(const struct lbx_catch *c, const struct lbx_ggml_callback *callback,
			const struct lbx_ggml_anchor *anchor, struct text *ret);
/* Begins with " && ": that the record at `node` is one that the catch means. */
void lbx_node_condition(const struct lbx_catch *c, const char *node, const struct lbx_ggml_callback *callback,
			const struct lbx_ggml_anchor *anchor, struct text *ret);

#endif
