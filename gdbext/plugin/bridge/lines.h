/* The lines that gdb's scripts send by themselves, beside those that the user types. */
#ifndef LBX_PLUGIN_LINES_H
#define LBX_PLUGIN_LINES_H

#include <stdbool.h>

struct lbx_context;

/* A breakpoint of the plugin's was hit: `CATCH,ARGUMENT,…` of the probe, `fault ADDRESS`; or `start`, where a program's
 * runtime starts or gdb has connected to it, and `start attached`. */
#define LBX_HIT "_hit"
/* gdb is about to leave the program. */
#define LBX_LEAVE "_leave"
/* gdb is about to begin with another process. */
#define LBX_BEGIN "_begin"
/* The user has deleted breakpoints. */
#define LBX_DELETED "_deleted"
/* gdb's hook-stop has called; `info program` and `info breakpoints` are answered then. It says "unarmed" of a
 * process that gdb has attached to, and catches have still to reach. */
#define LBX_STOPPED "_stopped"
/* Answered then, too, where lbx_front_end_shows_stops(). */
#define LBX_STOP_FRAMES "bt"
#define LBX_STOP_LIBRARIES "info sharedlibrary"
/* What LBX_STOPPED does, after a breakpoint's commands. */
#define LBX_REFRESH "_refresh"
/* gdb has loaded the commands, and its session is to be kept (LAZYBONES_TRACE). */
#define LBX_TRACE "_trace"
/* A call of the program has ended (definitions.c, _lb_eval); asked for, it gives what gdb said of the call. The request
 * ends with the mark then. */
#define LBX_CALL "_called"
#define LBX_CALLED "@lb called"
/* In place of a line with more words than the script can hand over. */
#define LBX_MAX_WORDS 64
#define LBX_TOO_MANY_WORDS "_too-many-words"

/* The option that is a command, below each command whose options complete (script.c), and behind their lines' names. The other
 * options are aliases of it: each is its first word then, so marked, and a blank parts it from what followed it without. */
#define LBX_OPTION_COMMAND "--json"
#define LBX_OPTION_FIRST "+"

/* A command of gdb's, not a line: what the breakpoint of `step in` runs (definitions.c). */
#define LBX_STEP_ENTER "_lb_enter"

struct lbx_line {
	const char *name;
	bool (*run)(struct lbx_context *context, const char *words);
	const char *as; /* the user's command that a failure is told of; NULL: none */
	bool is_quiet; /* nobody has asked for it: where it goes well, there is no news */
	bool is_command; /* of gdb's, by the name of _tensor and its own */
	bool selects_frame; /* which may be in another language */
};

#endif
