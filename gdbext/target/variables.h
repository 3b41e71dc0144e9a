/* The pointers that a frame's variables hold, by the debug information of its module. */
#ifndef LBX_VARIABLES_H
#define LBX_VARIABLES_H

#include "target/containers.h"
#include "target/lines.h"
#include "target/stacks.h"

struct lbx_threads; /* target/registers.h */

/* As lbx_stacks_ops.pointers. A frame without debug information has none. `ret_whole`, where not NULL: whether the frame has
 * debug information, and each variable that may lead to a pointer was found by it; `told`, likewise: what was left out. */
bool lbx_variables(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_frame *frame,
		   lbx_pointer_fn *fn, void *context, bool *ret_whole, struct lbx_variables_told *told);

/* Likewise of the variables that the program has for as long as it runs (statics.h), through more elements of each than of a
 * frame's; of those that each thread has, by these threads, or, where NULL, not at all. False, with an error: no memory. */
bool lbx_static_pointers(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_threads *threads,
			 lbx_static_fn *fn, void *context, struct lbx_statics_told *ret);

/* Likewise of an object that is called `name`, from which more steps are taken than from a variable; what is not in memory is a
 * pointer, whose value object->address is. False: it has more in it than is looked at. */
bool lbx_object_pointers(struct lbx_target *target, struct lbx_lines *lines, const char *name,
			 const struct lbx_object *object, bool in_memory, lbx_pointer_fn *fn, void *context);

#endif
