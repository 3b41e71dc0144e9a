/* gdb tells nobody that it leaves, starts a program or has deleted a breakpoint, but runs hooks:
 * commands of the name `hook-detach`. */
#ifndef LBX_PLUGIN_HOOKS_H
#define LBX_PLUGIN_HOOKS_H

#include <stdbool.h>

/* Asks which of them the user has, once; those stay as they are. False while gdb's answer is awaited. */
bool lbx_hooks_ask(void);
/* After that: whether ours is called where the program stops; a user's own hook-stop may leave that out. */
bool lbx_hooks_reach_stops(void);
/* Defines ours. */
void lbx_hooks_define(void);

#endif
