/* What a session knows of variables, and gdb's plugin would ask gdb for, which takes it a millisecond or two. */
#ifndef LBX_SERVE_KNOWN_H
#define LBX_SERVE_KNOWN_H

#include <jansson.h>

/* The line as the plugin takes it (plugin/commands/commands.c): in front stands what is known of variables in it. `tensors`:
 * what variables of the selected frame hold, each with "variable", "type" and "record", or NULL. The caller's; NULL: out of
 * memory. */
char *lbx_known_line(const json_t *tensors, const char *line);

#endif
