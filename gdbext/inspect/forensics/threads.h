#ifndef LBX_THREADS_H
#define LBX_THREADS_H

#include "inspect/command.h"

/* The thread that is meant without saying so: the selected, or dead one. */
bool lbx_first_thread(struct lbx_context *context, uint64_t *ret);

#endif
