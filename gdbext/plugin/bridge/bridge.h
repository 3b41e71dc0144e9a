/* The way from a gdb command to C and back. bridge.c tells how. */
#ifndef LBX_PLUGIN_BRIDGE_H
#define LBX_PLUGIN_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the response is, as a script, until there is one. */
#define LBX_SILENCE "echo gdb did not look at a frame: is the thread running?"
/* What takes text as it is; $_lb_setting has its name. */
#define LBX_CARRIER "maintenance set test-settings string-noescape"

enum { LBX_BRIDGE_LINE = 4096 }; /* bytes of a line, with its NUL */

/* Reads the program's memory, as gdb's target_read does: 0 is failure. */
typedef int lbx_bridge_read(unsigned long address, void *to, int n);

/* Opens the files, once in gdb's life; fails when a descriptor is taken. `run` does
 * one command line: it calls the functions below, and may be called again for the same
 * line when it asked something. */
bool lbx_bridge_open(void (*run)(const char *line));

/* Puts the text where the loader script sources it. */
bool lbx_bridge_offer(const char *script, size_t n);

/* Serves the request, if there is one. Call it on gdb's main thread only; `read` is NULL
 * without a program. Cheap when nothing is asked. */
void lbx_bridge_serve(lbx_bridge_read *read);

/* ---- for the command that runs ---- */

/* gdb's `language` setting as the user has it; while the command runs it is C. */
const char *lbx_bridge_language(void);
/* gdb's `style enabled` setting. */
bool lbx_bridge_styled(void);
/* Columns by gdb's `width`; 0: unlimited. */
int lbx_bridge_width(void);
/* The number of the inferior that is selected; 0: not known. */
int lbx_bridge_inferior(void);
/* How gdb reads numbers: `input-radix`. */
int lbx_bridge_radix(void);
/* gdb's `sysroot` setting. */
const char *lbx_bridge_sysroot(void);
/* Null when there is no program. */
lbx_bridge_read *lbx_bridge_reader(void);
/* Text for the user, through gdb's own streams. */
void lbx_bridge_echo(const char *text, size_t n);
/* Likewise, past gdb's pager. */
void lbx_bridge_echo_whole(const char *text, size_t n);
/* A line of gdb script, run in its place among the texts. */
void lbx_bridge_script(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line to run after the script so far has run; once. */
void lbx_bridge_then(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A command that makes the program run, in the user's language, after all else; once. */
void lbx_bridge_go(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Frame 0; the one that the user has selected; or none, also without a program (for commands
 * that never fail). */
enum lbx_bridge_where { LBX_ANYWHERE, LBX_IN_FRAME, LBX_WITHOUT_FRAME };
/* Before a command that prints frames: as few surprises as possible, whatever the user has set. */
#define LBX_PLAINLY "_lbp "
/* Before one that prints values, LBX_ANYWHERE: likewise, with an index before each element. Front ends are told of the settings
 * that this changes: once for all such questions of a round. */
#define LBX_INDEXED "_lbx "
/* What gdb prints for a command. False: not known yet (the line runs again when it is), or
 * not to be had; a command that fails gives gdb's error message. The answer is valid until
 * the line ends. */
bool lbx_bridge_ask(const char **ret, enum lbx_bridge_where where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The level of the frame that the user has selected. False: likewise; or it is none of the stack's. */
bool lbx_bridge_ask_level(int *ret);
/* Where the frame stands that was selected when the user's line began: that is not asked, gdb tells it with the line.
 * False: there is none, or something may have selected another since. */
struct lbx_bridge_place {
	uint64_t pc, sp;
};
bool lbx_bridge_place(struct lbx_bridge_place *ret);
/* Who drives gdb knows what it would print for a command: that need not be asked. */
void lbx_bridge_tell(const char *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether something was asked that gdb has still to answer. */
bool lbx_bridge_waits(void);
/* Whether something was not asked: gdb would have had to answer too much. */
bool lbx_bridge_lacks(void);
/* Whether the line runs for the first time: gdb has answered nothing of it yet. */
bool lbx_bridge_is_new(void);
/* Whether long work is to end: since the line began there was a Ctrl-C or a SIGTERM, or a file was cut. */
bool lbx_bridge_interrupted(void);

#endif
