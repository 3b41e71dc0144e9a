/* What a command asks of gdb: noted, put in rounds, and answered by what gdb prints (bridge.c tells why). Commands
 * ask by lbx_bridge_ask(); this is for the bridge, which puts the questions. */
#ifndef LBX_PLUGIN_QUESTIONS_H
#define LBX_PLUGIN_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* What begins each answer: the mark, the question's number, a line's end. After the last comes the mark and "end". */
#define LBX_MARK "@lb "

/* A line begins. What was asked before is forgotten: the program may have moved. */
void lbx_questions_begin(void);
/* The line runs, for the first time or once more. `frames`: there is a program with a frame to be asked in. */
void lbx_questions_run(bool frames);
/* Whether some have still to be put. */
bool lbx_questions_are_open(void);
/* Whether the line can run: nothing that it asked has still to be put. At first it always can. */
bool lbx_questions_let_run(void);
/* Writes those into the file that the script sources. */
bool lbx_questions_put(void);
/* Takes the answers that the request file has; false while they are not complete. */
bool lbx_questions_take(void);

/* Notes, for the line that begins, what the script itself asks; the answer's number is how many were noted before.
 * Fails without memory. */
bool lbx_questions_expect(const char *command);
/* The same, with the answer. */
bool lbx_questions_tell(const char *command, const char *answer, size_t n);

#endif
