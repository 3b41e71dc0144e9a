/* The catches that are set: `tensor catch`, `uncatch` and `break`. */
#ifndef LBX_PLUGIN_CATCH_H
#define LBX_PLUGIN_CATCH_H

#include "plugin/stops/catch_kinds.h"
#include "plugin/stops/catch_watch.h"

/* A breakpoint of a catch was hit: what happened to whom. `CATCH ARGUMENT…` of the probe, or `fault ADDRESS`. Says so,
 * and selects a frame: the same for all kinds (catch_stop.c). */
bool lbx_catch_hit(struct lbx_context *context, const char *words);

/* Sets one; its number is given here. May ask (lbx_bridge_waits), and then is called again. */
bool lbx_catch_set(struct lbx_context *context, const struct lbx_catch *wanted);
/* Leaves out those whose breakpoints are gone. False while the answer is awaited. */
bool lbx_catch_refresh(void);
/* The user may have deleted breakpoints: what only those needed goes, too; `changed`: gdb does so
 * after this line. */
bool lbx_catch_deleted(struct lbx_context *context, bool *changed);
/* After lbx_catch_refresh(): in a program whose runtime has just started, or that gdb has attached to, gives the
 * breakpoints their conditions, and makes the runtime look. */
bool lbx_catch_arm(struct lbx_context *context, const struct lbx_watch_place *place);
/* After lbx_catch_refresh(): disables the breakpoints, until lbx_breakpoints_resume(). */
void lbx_catch_suspend(void);

/* Their places, *ret_n in all; those with number 0 are free. */
struct lbx_catch *lbx_catches(int *ret_n);
/* NULL when there is none. */
const struct lbx_catch *lbx_catch_numbered(int number);
/* The one that wants to stop at accesses to a tensor's guard. */
const struct lbx_catch *lbx_catch_of_guard(uint64_t id, const char *name);
/* The catches that are set, one a line; a list under the key "catches". */
void lbx_catches_tell(struct lbx_out *out);

#endif
