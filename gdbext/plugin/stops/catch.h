/* Catches: gdb breakpoints on the runtime's probes, and the words that make it look. */
#ifndef LBX_PLUGIN_CATCH_H
#define LBX_PLUGIN_CATCH_H

#include "inspect/command.h"

bool lbx_catch_run(struct lbx_context *context, const struct lbx_args *args);
struct lbx_catch;
/* Sets one; its number is given here. May ask (lbx_bridge_waits), and then is called again. */
bool lbx_catch_set(struct lbx_context *context, const struct lbx_catch *wanted);
bool lbx_uncatch_run(struct lbx_context *context, const struct lbx_args *args);
/* The user may have deleted breakpoints: what only those needed goes, too; `changed`: gdb does so
 * after this line. */
bool lbx_catch_deleted(struct lbx_context *context, bool *changed);
/* A breakpoint of a catch was hit: what happened to whom. `CATCH ARGUMENT…` of the probe, `start`, or
 * `fault ADDRESS`. */
bool lbx_catch_hit(struct lbx_context *context, const char *words);
/* gdb has attached: what was set before reaches the process, now or, while it has no runtime, later. */
bool lbx_catch_arm(struct lbx_context *context);
/* Asks gdb which of the catches' breakpoints there are. False while the answer is awaited. */
bool lbx_catch_refresh(void);
/* Whether the program has its libraries, and no runtime with probes among them; another may still be loaded. False
 * where that is not known. May ask. */
bool lbx_catch_lacks_runtime(void);
/* Whether the runtime, which has started, has the probes that catches and steps stop at. May ask. */
bool lbx_catch_has_probes(void);
/* After lbx_catch_refresh(): makes the breakpoint at which a runtime that starts is told what is wanted; without a
 * process, when there is one (`run` needs none). */
bool lbx_catch_add_start(bool process);
/* Deletes it, unless something is caught. */
void lbx_catch_drop_start(void);
/* After lbx_catch_refresh(): adds the script that disables the enabled breakpoints; and the one that enables
 * them again. */
void lbx_catch_suspend(void);
void lbx_catch_resume(void);
/* The catches that are set, one a line, or as a JSON array. */
json_t *lbx_catch_list(struct lbx_out *out);

#endif
