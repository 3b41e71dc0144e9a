/* What a program's file says that it will load. */
#ifndef LBX_NEEDS_H
#define LBX_NEEDS_H

#include <stdbool.h>

/* It is linked with the runtime, as a library or statically. False, without error, where it is not, or
 * cannot be read; a library that it loads later may need the runtime still. */
bool lbx_file_uses_runtime(const char *path);

#endif
