/* Begins and ends a log of values in a program that runs (runtime/eval/journal.h). */
#ifndef LBX_LOG_SWITCH_H
#define LBX_LOG_SWITCH_H

#include "inspect/command.h"
#include "table/table.h"

/* How its memory is written: lbx_target_write(), or lbx_process_write() while it runs on. */
typedef bool lbx_log_write(struct lbx_target *target, uint64_t address, const void *from, size_t n);

/* Begins one of these names; "": of all. It takes the place of another one, but of none that somebody follows, and one that is
 * followed of none at all. */
bool lbx_log_begin(struct lbx_target *target, const struct lbx_root *root, lbx_log_write *write, const char *names,
		   const char *file);
/* Ends it, whatever file it goes to; or, unless `file` is NULL, if it goes to that one. */
bool lbx_log_end(struct lbx_target *target, const struct lbx_root *root, lbx_log_write *write, const char *file);

/* What the command's words ask for: of the names that are arguments; without any, of all. `file` NULL: it ends. */
bool lbx_log_switch(struct lbx_context *context, const struct lbx_args *args, const char *file);

/* Whether a log can be written to a file on this machine, which need not be there yet. False, with an error: it cannot. */
bool lbx_log_check_file(const char *file);

#endif
