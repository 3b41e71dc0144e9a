#ifndef LBX_THREADS_H
#define LBX_THREADS_H

#include "inspect/command.h"

bool lbx_run_threads(struct lbx_context *context, const struct lbx_args *args);
bool lbx_run_frame(struct lbx_context *context, const struct lbx_args *args);
/* The thread that is meant without saying so: the selected, or dead one. */
bool lbx_first_thread(struct lbx_context *context, uint64_t *ret);

#endif
