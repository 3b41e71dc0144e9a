/* The commands of the breakpoints that the program has stopped at: gdb runs them after it has told of the stop. */
#ifndef LBX_PLUGIN_STOP_COMMANDS_H
#define LBX_PLUGIN_STOP_COMMANDS_H

#include <stdbool.h>

/* At LBX_STOPPED: whether one of the breakpoints has commands, or that is not known. */
bool lbx_stop_has_commands(void);
/* Likewise, whether the last of these commands are of one of the plugin's breakpoints, where the program stands for the user. */
bool lbx_stop_is_ours(void);
/* At LBX_REFRESH, for what was hit ("3"): whether no other breakpoint of this stop has commands that are still to run.
 * gdb 13 forgets them when it reads its JIT reader again. False while the answer is awaited. */
bool lbx_stop_commands_end(const char *hit, bool *ret);

#endif
