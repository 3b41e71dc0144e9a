/* Names of C++ (and other) functions as their source has them. */
#ifndef LBX_DEMANGLE_H
#define LBX_DEMANGLE_H

#include <stddef.h>

/* A linker's name without the symbol's version; demangled, without parameters (`net::Layer::forward`),
 * where it is a mangled one. Of a long one, or one that has no room, the arguments of templates and functions are
 * left out (`net::step<…>`). Cut to `size`, and then ends with "…". */
void lbx_demangle(const char *name, char *ret, size_t size);

#endif
