/* What a library does inside is not where the program stands. */
#ifndef LBX_RECORD_SKIPS_H
#define LBX_RECORD_SKIPS_H

#include <stdbool.h>

/* Patterns of functions of the system and of libraries of tensors, which gdb's `skip -rfu` takes; to NULL. */
extern const char *const lbx_skips[];
bool lbx_is_librarys(const char *function);

#endif
