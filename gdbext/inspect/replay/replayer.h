/* Finds the program lazybones-replay and runs it. */
#ifndef LBX_REPLAYER_H
#define LBX_REPLAYER_H

#include "inspect/out.h"

/* On a shared memory file as replay/wire.h lays it out. True unless it could not be started, died
 * by a signal, or had to be killed. `doing` is for the progress line, `what` for errors. */
bool lbx_replayer_run(struct lbx_out *out, int fd, int64_t seconds, const char *doing, const char *what);

#endif
