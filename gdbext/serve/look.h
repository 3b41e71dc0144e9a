/* What gdb and its plugin tell of the place where a program stands. Each waits for gdb, however long that takes. */
#ifndef LBX_SERVE_LOOK_H
#define LBX_SERVE_LOOK_H

#include <stdbool.h>

#include <jansson.h>

#include "serve/gdb.h"

/* The innermost frames of the selected thread, as MI has them: a new array. */
bool lbx_look_at_frames(struct lbx_gdb *gdb, json_t **ret);
bool lbx_look_select(struct lbx_gdb *gdb, int level);
/* Of the frame's variables, as MI has them: whether several blocks have one of the name, and whether one is a pointer to the
 * address, 0x7f3b30. */
bool lbx_is_shadowed(const json_t *variables, const char *name);
bool lbx_variable_holds(const json_t *variable, const char *address);
/* The selected frame, as lbx_place_of() tells it. NULL: there is none. */
json_t *lbx_look_at_frame(struct lbx_gdb *gdb);
/* The tensors that variables of the selected frame point to, each with "variable", and "type" where no other variable of the
 * frame has that name; NULL: there are none. `tensor locals` finds those inside of structures and objects, too, but asks gdb for
 * each, which takes ten times as long. */
json_t *lbx_look_at_tensors(struct lbx_gdb *gdb);

#endif
