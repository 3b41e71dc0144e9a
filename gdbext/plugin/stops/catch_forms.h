/* A catch as text, as JSON, and as what gdb checks at its breakpoint. */
#ifndef LBX_PLUGIN_CATCH_FORMS_H
#define LBX_PLUGIN_CATCH_FORMS_H

#include "plugin/stops/catch_kinds.h"

/* "range [0, 1] of q" */
void lbx_catch_describe(const struct lbx_catch *c, struct text *ret);
/* What JSON says of it, as fields of the object that is open. */
void lbx_catch_keys(const struct lbx_catch *c, struct lbx_out *out);
/* What gdb is to check at a probe of this program; nothing when every stop is wanted. */
void lbx_catch_condition(const struct lbx_catch *c, struct lbx_table *table, struct text *ret);
/* True when the text at the address that `pointer` stands for begins with these n bytes; reads no byte beyond them. */
void lbx_bytes_condition(const char *pointer, const char *bytes, size_t n, struct text *ret);

#endif
