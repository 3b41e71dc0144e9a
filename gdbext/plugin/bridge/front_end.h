/* What talks to gdb: a person, or a program. */
#ifndef LBX_PLUGIN_FRONT_END_H
#define LBX_PLUGIN_FRONT_END_H

#include <stdbool.h>

/* Whether gdb was started for a front end that speaks MI. Such a program is told of each setting that changes. */
bool lbx_front_end_speaks_mi(void);

#endif
