/* Where a frame is, as gdb tells it, and which of a thread's frames is the program's own. */
#ifndef LBX_SERVE_PLACE_H
#define LBX_SERVE_PLACE_H

#include <jansson.h>

#include "serve/libraries.h"

/* What a library does inside is not where the program stands: patterns of functions, which `skip -rfu` takes. */
extern const char *const lbx_skips[]; /* to NULL */

/* The level of the innermost frame whose source file is there and whose function is none of the system's or of a library
 * of tensors; else 0. */
int lbx_own_level(const json_t *frames, const struct lbx_libraries *libraries);
/* Lines of a text, the first is 1, as a new array of strings. NULL: it is no file, cannot be read, or is larger than 32 MiB. */
json_t *lbx_source_lines(const char *path, long first, long last);
/* {file, line, function, level, address, source: {first, lines}}: the lines around, if they can be read. A new object. */
json_t *lbx_place_of(const json_t *frame);

#endif
