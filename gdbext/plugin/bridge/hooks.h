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

/* What is to be done where the program stops: ours then calls the plugin. */
enum lbx_stop_use { LBX_STOPS_REFRESH, LBX_STOPS_DISPLAY, LBX_STOPS_TRACE, LBX_STOPS_FOLLOW };
void lbx_hooks_use_stops(enum lbx_stop_use use, bool on);
/* For anything. */
bool lbx_hooks_use_any_stop(void);

#endif
