/* Names of C++ (and other) functions as their source has them. */
#ifndef LBX_DEMANGLE_H
#define LBX_DEMANGLE_H

#include <stddef.h>

/* A linker's name without the symbol's version; demangled, without parameters (`net::Layer::forward`),
 * where it is a mangled one. Cut to `size`, and then ends with "…". */
void lbx_demangle(const char *name, char *ret, size_t size);

#endif
