/* A catch as text, as JSON, and as what gdb checks at its breakpoint. */
#ifndef LBX_PLUGIN_CATCH_FORMS_H
#define LBX_PLUGIN_CATCH_FORMS_H

#include "plugin/stops/catch_kinds.h"

/* "range [0, 1] of q" */
void lbx_catch_describe(const struct lbx_catch *c, struct text *ret);
/* Members of the object that --json writes. */
void lbx_catch_json(const struct lbx_catch *c, json_t *object);
/* What gdb is to check at a probe of this program; nothing when every stop is wanted. */
void lbx_catch_condition(const struct lbx_catch *c, struct lbx_table *table, struct text *ret);

#endif
