/* The tensors' variables in gdb: a file of symbols, changed when tensors came or went. */
#ifndef LBX_PLUGIN_SYMBOL_FILE_H
#define LBX_PLUGIN_SYMBOL_FILE_H

#include "inspect/command.h"

extern const struct lbx_debugger lbx_debugger_gdb;

/* At LBX_STOPPED: whether one of the breakpoints that the program has stopped at has commands, or that is not
 * known. */
bool lbx_symbol_file_stop_has_commands(void);
/* Before another process: gdb 13 fails an assertion when memory that a watched variable is found by
 * cannot be read while the process starts. Where there are watchpoints, the variables go. */
bool lbx_symbol_file_begin(struct lbx_context *context);
bool lbx_symbol_file_refresh(struct lbx_context *context);
/* Lets LBX_REFRESH follow for what was hit ("3 0x11 …"), if that is wanted. */
void lbx_symbol_file_refresh_then(const char *hit);
/* At LBX_REFRESH, for that ("3"): refreshes if no other breakpoint of this stop has commands that are still to run:
 * gdb 13 forgets them when it reads its JIT reader again. */
bool lbx_symbol_file_refresh_last(struct lbx_context *context, const char *hit);

/* Makes gdb read the names of addresses again, after the command. */
void lbx_symbol_file_reload_names(void);
/* Whether that, or the variables, changed in the response that is being made; then false. */
bool lbx_symbol_file_take_changed(void);

#endif
