/* Objects of C++ in the program that gdb debugs, by their debug information: what gdb itself, without Python, does not see in a
 * smart pointer or a container, or only by calling the program. */
#ifndef LBX_PLUGIN_OBJECTS_GDB_H
#define LBX_PLUGIN_OBJECTS_GDB_H

#include "target/stacks.h"

/* As lbx_stacks_ops has them, of the selected frame and of global variables. */
bool lbx_objects_gdb_statics(struct lbx_stacks *stacks, lbx_static_fn *fn, void *context, struct lbx_statics_told *ret);
bool lbx_objects_gdb_evaluate(struct lbx_stacks *stacks, const char *expression, struct lbx_evaluated *ret);
bool lbx_objects_gdb_within(struct lbx_stacks *stacks, const char *expression, lbx_pointer_fn *fn, void *context,
			    bool *ret_more);
bool lbx_objects_gdb_elsewhere(struct lbx_stacks *stacks, const char *name, char *ret, size_t size);
/* Whether gdb has answered what it takes to look at the frame of that level. */
bool lbx_objects_gdb_are_known(int level);
/* Pointers of that frame's variables; false once fn has said so. Without debug information there are none. `ret_whole`, `told`:
 * as lbx_variables() has them. */
bool lbx_objects_gdb_pointers(int level, lbx_pointer_fn *fn, void *context, bool *ret_whole,
			      struct lbx_variables_told *told);

#endif
