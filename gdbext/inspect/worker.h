/* Runs the program lazybones-replay on a shared memory file (replay/wire.h). */
#ifndef LBX_WORKER_H
#define LBX_WORKER_H

#include "inspect/out.h"

/* Waits until it has ended by itself, with progress and Ctrl-C; at most `seconds` of time. True
 * unless it could not be started, died by a signal, or had to be killed. */
bool lbx_worker_run(struct lbx_out *out, int fd, int64_t seconds);

#endif
