#ifndef LBX_SYMBOLS_H
#define LBX_SYMBOLS_H

#include "inspect/command.h"

bool lbx_run_symbols(struct lbx_context *context, const struct lbx_args *args);
/* Writes a file of the user's own, all at once: who has the old one open keeps it. */
bool lbx_write_private(const char *path, const void *bytes, size_t n);

#endif
