/* Whose the terminal is that gdb writes to. */
#ifndef LBX_PLUGIN_TERMINAL_H
#define LBX_PLUGIN_TERMINAL_H

#include <stdbool.h>

/* Whether a process that gdb has started writes there, too, as what `pipe` and `shell` run, and not the program, which has a group of
 * its own. False where the system does not tell. */
bool lbx_terminal_is_shared(void);

#endif
