/* Where a frame is, as gdb tells it, and which of a thread's frames is the program's own. */
#ifndef LBX_SERVE_PLACE_H
#define LBX_SERVE_PLACE_H

#include <jansson.h>

#include "record/libraries.h"

/* Whether a frame is the program's own, and its source file is there. */
bool lbx_is_own_place(const json_t *frame, const struct lbx_libraries *libraries);
/* The level of the innermost frame that is the program's own, and whose source file is there; else 0. */
int lbx_own_level(const json_t *frames, const struct lbx_libraries *libraries);
/* Takes in what =library-loaded tells, or =library-unloaded. */
void lbx_libraries_take(struct lbx_libraries *libraries, const json_t *told, bool is_loaded);
/* Lines of a text, the first is 1, as a new array of strings. NULL: it is no file, cannot be read, or is larger than 32 MiB. */
json_t *lbx_source_lines(const char *path, long first, long last);
/* {file, line, function, level, address, source: {first, lines}}: the lines around, if they can be read. A new object. */
json_t *lbx_place_of(const json_t *frame);

#endif
