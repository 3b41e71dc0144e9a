#ifndef LBX_SYMBOLS_H
#define LBX_SYMBOLS_H

#include "inspect/command.h"

/* Writes a file of the user's own, all at once: who has the old one open keeps it. */
bool lbx_write_private(const char *path, const void *bytes, size_t n);

#endif
