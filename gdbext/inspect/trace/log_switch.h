/* Begins and ends a log of values in a program that runs (runtime/eval/journal.h). */
#ifndef LBX_LOG_SWITCH_H
#define LBX_LOG_SWITCH_H

#include "inspect/command.h"

/* Of the names that are arguments; without any, of all. `file` NULL: it ends. */
bool lbx_log_switch(struct lbx_context *context, const struct lbx_args *args, const char *file);

#endif
