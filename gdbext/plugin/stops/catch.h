/* Setting a catch: `tensor catch`, `uncatch` and `break`. */
#ifndef LBX_PLUGIN_CATCH_H
#define LBX_PLUGIN_CATCH_H

#include "plugin/stops/catch_kinds.h"
#include "plugin/stops/catch_watch.h"

/* Sets one; its number is given here. May ask (lbx_bridge_waits), and then is called again. */
bool lbx_catch_set(struct lbx_context *context, const struct lbx_catch *wanted);
/* The user may have deleted breakpoints: what only those needed goes, too; `changed`: gdb does so
 * after this line. */
bool lbx_catch_deleted(struct lbx_context *context, bool *changed);

/* What gdb is to check, to be freed; with an error when memory is out. */
bool lbx_catch_make_condition(const struct lbx_catch *c, const struct lbx_watch_place *place, struct text *ret);
/* `breakpoint` is a number, or a variable with it. Frees the condition. */
void lbx_catch_put_condition(const char *breakpoint, struct text *condition);
/* What an older runtime cannot do for a catch that it knows. */
void lbx_catch_add_shortcoming(const struct lbx_catch *c, const struct lbx_watch_place *place, struct text *ret);

#endif
