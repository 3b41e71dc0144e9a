/* lazybones trace: a program's timeline, in a file. */
#ifndef LBX_TRACE_H
#define LBX_TRACE_H

/* argv: `trace`, and what follows. Returns the exit status: of the program, where that was
 * started here. */
int lbx_trace(char **argv);

#endif
