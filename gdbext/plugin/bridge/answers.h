/* Answers in JSON for a program that drives gdb. What goes through gdb it reads byte by byte, and MI quotes it: too slow
 * for ten thousand tensors. Where LAZYBONES_ANSWERS=file is in gdb's environment, the answer of a command with --json is
 * left in a file of memory instead, /proc/PID/fd/911 of gdb's process, until the next command begins. */
#ifndef LBX_PLUGIN_ANSWERS_H
#define LBX_PLUGIN_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a program that drives gdb has asked for that. Notices of MI are no trouble to it. */
bool lbx_answers_are_wanted(void);
/* A command begins, perhaps anew: what there was is dropped. */
void lbx_answers_begin(void);
/* False: the text goes the usual way. */
bool lbx_answers_take(const char *text, size_t n);
/* All of it is told: it is in the file now. */
void lbx_answers_end(void);

#endif
