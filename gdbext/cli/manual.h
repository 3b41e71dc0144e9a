/* The usage text and the manual pages, from the command table. */
#ifndef LBX_MANUAL_H
#define LBX_MANUAL_H

#include "inspect/command.h"

/* What the exit statuses mean. */
enum { LBX_EXIT_DONE, LBX_EXIT_FAILED, LBX_EXIT_MISUSED, LBX_EXIT_FOUND };

/* The options that stand before a command, or anywhere. */
extern const struct lbx_command lbx_cli_program;
/* What stands before a command in its example. */
const char *lbx_cli_prefix(const struct lbx_command *command);
/* Whether its words stand behind `core CORE` or `pid PID`. */
bool lbx_cli_is_inspection(const struct lbx_command *command);
/* Whether the `lazybones` command has a row. */
bool lbx_cli_has(const struct lbx_command *command);
void lbx_usage(struct lbx_out *out);
/* The names of the pages, a line each: lazybones, lazybones-core, lazybones-print, … */
void lbx_manual_pages(struct lbx_out *out);
/* One of them, in man's roff. */
bool lbx_manual(struct lbx_out *out, const char *page);

#endif
