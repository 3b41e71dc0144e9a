/* Where a command of gdb writes to: gdb's own streams, and its convenience variables. */
#ifndef LBX_PLUGIN_OUTPUT_H
#define LBX_PLUGIN_OUTPUT_H

#include "inspect/out.h"

/* For a command that begins; or for a line of the scripts' own, which shows no progress. */
struct lbx_out lbx_gdb_out(bool is_typed);
/* The error that is kept, of a command; NULL: of none that the user has typed. */
void lbx_gdb_out_failure(struct lbx_out *out, const char *name);
/* Where long work has shown how far it is, it does no more. */
void lbx_gdb_out_erase(void);
/* Sets the variables that come together: of a tensor that was told of, and a count. True: and $tensor_failed, to 0. */
bool lbx_gdb_out_end(void);

#endif
