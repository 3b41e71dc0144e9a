/* Why the program stands at a breakpoint of ours: for that alone, or for one of somebody else at the same place, too. */
#ifndef LBX_PLUGIN_HITS_H
#define LBX_PLUGIN_HITS_H

#include <stdbool.h>
#include <stddef.h>

/* For the register (breakpoints.h), which goes through what `info breakpoints` shows. */
void lbx_hits_begin(void);
void lbx_hits_take(const char *text, size_t n, bool is_ours);

/* What has been hit so far is no reason for the next stop: the program stands where its user knows. */
void lbx_hits_settle(void);
/* These are of a stop whose breakpoints have been refreshed. Lets the program go on, for a breakpoint of ours that has nothing to
 * say; but not where another is a reason to stop. False while the answer is awaited: nothing has been done. */
bool lbx_hits_go_on(void);
/* Whether gdb's breakpoint has been hit since the last stop that was noted. */
bool lbx_hits_is_new(int breakpoint);
/* Whether the program still stands as at the last stop that these have noted. */
bool lbx_hits_are_same(void);
/* Whether the answers are there that this needs, asked at once with others; false while they are awaited. */
bool lbx_hits_ask(void);
/* One of ours has told the user why the program stops: the others that are hit there do not let it go on. */
void lbx_hits_keep(void);
/* Whether they do not, by what these have noted last. */
bool lbx_hits_are_kept(void);

#endif
