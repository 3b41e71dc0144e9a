/* The catches that are set. */
#ifndef LBX_PLUGIN_CATCHES_H
#define LBX_PLUGIN_CATCHES_H

#include "plugin/stops/catch_kinds.h"

enum { LBX_CATCHES = LBX_BREAKPOINTS_NUMBERED };

/* Their places, *ret_n in all, which is LBX_CATCHES; those with number 0 are free. */
struct lbx_catch *lbx_catches(int *ret_n);
/* NULL when there is none. */
const struct lbx_catch *lbx_catch_numbered(int number);
/* The one that wants to stop at accesses to a tensor's guard. */
const struct lbx_catch *lbx_catch_of_guard(uint64_t id, const char *name);
/* Whether there is any; or any of such accesses. */
bool lbx_catches_are_set(bool accesses_only);

/* What gdb knows its own breakpoint by, which is that of others, too, where it has no probe; LBX_BREAKPOINT_NONE: it has
 * none, as one of a record at nodes. */
int lbx_catch_key(const struct lbx_catch *c);
/* Leaves out those whose breakpoints are gone. False while the answer is awaited. */
bool lbx_catch_refresh(void);
/* The numbers of those, since the last lbx_catches_forget_gone(): they may have other breakpoints, and the program words for
 * them. */
int lbx_catches_gone(const int **ret);
void lbx_catches_forget_gone(void);
/* After a refresh: disables the breakpoints, until lbx_breakpoints_resume(). */
void lbx_catch_suspend(void);

/* One a line; a list under the key "catches". */
void lbx_catches_tell(struct lbx_out *out);

#endif
