/* The register of the breakpoints that the plugin makes: what gdb calls them, and whether they are still there. It
 * knows nothing of what they are for. */
#ifndef LBX_PLUGIN_BREAKPOINTS_H
#define LBX_PLUGIN_BREAKPOINTS_H

#include <stdbool.h>
#include <stdint.h>

/* What a breakpoint is known by here: a number from 1 on, which the caller gives; or, of those that there are once: */
enum {
	LBX_BREAKPOINT_START = 0,  /* at the runtime's first probe: a program is told there what is wanted of it */
	LBX_BREAKPOINT_FAULT = -1, /* at the signal that a guard raises (symtab.h) */
	LBX_BREAKPOINT_STEP = -2,  /* at the next evaluation: of the file that `step in` sources (step.c) */
	LBX_BREAKPOINT_NONE = -3, /* of none */
	LBX_BREAKPOINT_OTHERS = 1 << 16, /* and more: of the rooms that provide stops at nodes */
};
enum { LBX_BREAKPOINTS_NUMBERED = 64, LBX_BREAKPOINTS_OTHERS = 1024, LBX_PROBE_ARGS = 6 }; /* at most */

/* Asks gdb which of them there are: the user may have deleted some, and gdb may have failed to make some. False
 * while the answer is awaited. */
bool lbx_breakpoints_refresh(void);
/* Likewise, and it asks also where none of ours is there: what is known of the user's is wanted (hits.h). */
bool lbx_breakpoints_look(void);
/* After that. */
bool lbx_breakpoint_exists(int key);
bool lbx_breakpoint_is_enabled(int key);
/* gdb's number of one that exists. */
int lbx_breakpoint_number(int key);

/* These add to the response what makes and deletes them. A breakpoint on a probe, pending until there is one: at a
 * stop it sends LBX_HIT with its key and the probe's arguments. Its number is in $_lb_catch then. `may_go_on`: the program
 * does where $_lb_go is 1 then (hits.h). */
void lbx_breakpoint_add(int key, const char *probe, int n_args, bool may_go_on);
/* Whether the probes of those that are added from here on are known to be there: then none has to wait for them, and a front end
 * that speaks MI is told of no setting. */
void lbx_breakpoint_probes_are_there(bool are);
/* Sends LBX_HIT with "fault" and the address. */
void lbx_breakpoint_add_fault(void);
/* Of the others, at an address of this process: sends LBX_HIT with `whose`, the key, these words, and the values of two
 * expressions, in hexadecimal; NULL: none. The program goes on where $_lb_go is 1 then (hits.h). A condition may be NULL. */
void lbx_breakpoint_add_code(int key, const char *whose, uint64_t at, const char *words, const char *first,
			     const char *second, const char *condition);
/* Likewise, by the name of a function, pending until there is one; if there is none of that key. */
void lbx_breakpoint_need(int key, const char *whose, const char *function, const char *words, const char *first,
			 const char *second);
/* Likewise, where a library is loaded whose file's name matches. */
void lbx_breakpoint_need_library(int key, const char *whose, const char *regex, const char *words);
/* The condition of one that is not pending, which gdb 13 would disable for it; or of the one that was just made. */
void lbx_breakpoint_set_condition(int key, const char *condition);
/* One that exists, and has been refreshed. */
void lbx_breakpoint_enable(int key, bool is_on);
/* Notes one that a script makes by itself. */
void lbx_breakpoint_note(int key);
void lbx_breakpoint_delete(int key);

/* The one at the start is there for as long as somebody needs it. */
enum lbx_start_for {
	LBX_START_FOR_CATCHES = 1 << 0,
	LBX_START_FOR_SWITCHES = 1 << 1,
	LBX_START_FOR_FOLLOWING = 1 << 2
};
void lbx_breakpoint_need_start(enum lbx_start_for who);
void lbx_breakpoint_release_start(enum lbx_start_for who);

/* Disables it, if it is enabled, until all that were suspended are resumed. After a refresh. */
void lbx_breakpoint_suspend(int key);
void lbx_breakpoints_resume(void);

#endif
