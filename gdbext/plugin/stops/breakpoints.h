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
	LBX_BREAKPOINT_SCHEDULER = -3, /* where ggml makes a scheduler: the program is looked at there */
	LBX_BREAKPOINT_BUILD = -4, /* where a graph is built: a program without a scheduler does so first */
	LBX_BREAKPOINT_COMPUTE = -5, /* where a graph is computed, with a scheduler or without */
	LBX_BREAKPOINT_ENTRY = -6, /* and less: where a scheduler computes (nodes.c) */
	LBX_BREAKPOINT_NODES = 1 << 24, /* and a number from 1 on: at ggml's nodes */
	LBX_BREAKPOINT_FORWARD = 1 << 25, /* likewise, where a thread comes to them */
};
enum { LBX_BREAKPOINTS_NUMBERED = 64, LBX_PROBE_ARGS = 6 }; /* at most */

/* Asks gdb which of them there are: the user may have deleted some, and gdb may have failed to make some. False
 * while the answer is awaited. */
bool lbx_breakpoints_refresh(void);
/* After that. */
bool lbx_breakpoint_exists(int key);
/* gdb's number of one that exists. */
int lbx_breakpoint_number(int key);

/* These add to the response what makes and deletes them. A breakpoint on a probe, pending until there is one: at a
 * stop it sends LBX_HIT with its key and the probe's arguments. Its number is in $_lb_catch then. */
void lbx_breakpoint_add(int key, const char *probe, int n_args);
/* Sends LBX_HIT with "fault" and the address. */
void lbx_breakpoint_add_fault(void);
/* At an address of this process: it sends LBX_HIT with a word or two, and with what these registers hold, if any. */
void lbx_breakpoint_add_code(int key, uint64_t at, const char *words, const char *first, const char *second,
			     const char *condition);
/* By the name of a function of ggml's, pending until there is one: sends LBX_HIT with "made", "builds" or "computes". */
void lbx_breakpoint_need(int key);
/* Notes one that a script makes by itself. */
void lbx_breakpoint_note(int key);
void lbx_breakpoint_delete(int key);

/* The one at the start is there for as long as somebody needs it. */
enum lbx_start_for { LBX_START_FOR_CATCHES = 1 << 0, LBX_START_FOR_SWITCHES = 1 << 1 };
void lbx_breakpoint_need_start(enum lbx_start_for who);
void lbx_breakpoint_release_start(enum lbx_start_for who);

/* Disables it, if it is enabled, until all that were suspended are resumed. After a refresh. */
void lbx_breakpoint_suspend(int key);
void lbx_breakpoints_resume(void);

#endif
