/* Whether a process of this machine has ended, though gdb, which has still to wait for it, may not know. */
#ifndef LBX_SERVE_ENDED_H
#define LBX_SERVE_ENDED_H

#include <stdbool.h>

/* *ret is its status as wait() has it; -1: it is not known. */
bool lbx_has_ended(long pid, int *ret);

#endif
