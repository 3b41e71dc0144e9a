/* The tensors' variables in gdb: a file of symbols, changed when tensors came or went. */
#ifndef LBX_PLUGIN_SYMBOL_FILE_H
#define LBX_PLUGIN_SYMBOL_FILE_H

#include "inspect/command.h"

extern const struct lbx_debugger lbx_debugger_gdb;

/* Before another process: gdb 13 fails an assertion when memory that a watched variable is found by
 * cannot be read while the process starts. Where there are watchpoints, the variables go. */
bool lbx_symbol_file_begin(struct lbx_context *context);
/* After a stop, where that is wanted. */
bool lbx_symbol_file_refresh(struct lbx_context *context);

/* Makes gdb read the names of addresses again, after the command. */
void lbx_symbol_file_reload_names(void);
/* Whether that, or the variables, changed in the response that is being made; then false. */
bool lbx_symbol_file_take_changed(void);

#endif
