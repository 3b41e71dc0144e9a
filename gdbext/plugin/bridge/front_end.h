/* What talks to gdb: a person, or a program. */
#ifndef LBX_PLUGIN_FRONT_END_H
#define LBX_PLUGIN_FRONT_END_H

#include <stdbool.h>

/* Whether gdb was started for a front end that speaks MI. Such a program is told of each setting that changes. */
bool lbx_front_end_speaks_mi(void);
/* Whether it takes the frame of a stop from gdb's word for it, *stopped, as editors do: gdb shows the frame there that is
 * selected when its hook-stop ends. Nothing that the plugin says may be sourced in that hook (bridge.c), so a number comes
 * as the exit status of a shell. A program of ours (answers.h) selects frames itself. */
bool lbx_front_end_shows_stops(void);
/* Whether what gdb prints is MI. Where a front end has opened an interface of its own for that, it is not. */
bool lbx_front_end_is_mi(void);
/* Whether gdb's TUI has the terminal. */
bool lbx_front_end_draws_screen(void);
/* Whether gdb ends when it has done what it was started for. */
bool lbx_front_end_is_batch(void);

#endif
