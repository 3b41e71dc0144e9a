/* Where the command writes: a terminal of so many columns, or a file or pipe, whose lines stay whole
 * unless COLUMNS says how wide they are to be. */
#ifndef LBX_CLI_TERMINAL_H
#define LBX_CLI_TERMINAL_H

#include <stdio.h>

#include "inspect/out.h"

struct lbx_out lbx_terminal(FILE *file);
/* Long work is shown from now on where standard output is a terminal that is ours: what ends the program ends that, too. */
void lbx_terminal_begin_progress(struct lbx_out *out);
void lbx_terminal_end_progress(void);
/* "lazybones: MESSAGE" on standard error, printable. */
void lbx_complain(const char *message);
/* The error, likewise; with --json it stands on standard output, {"error": MESSAGE}, in place of what was
 * asked for, unless some of that is there. */
void lbx_tell_error(bool json);

#endif
