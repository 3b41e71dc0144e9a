/* The variables of what runs, and what they hold. */
#ifndef LBX_PYTHON_VARIABLES_H
#define LBX_PYTHON_VARIABLES_H

#include "python/frames.h"

enum { LBX_PY_LOOKED = 4096 /* objects of a frame, a quarter of them of one object */, LBX_PY_HELD_NAME = 160 };

/* True: the object is what is looked for, and is not looked into. `name`: as Python has it, "batch['x'][0]". */
typedef bool lbx_py_take_fn(void *context, const char *name, uint64_t object);

/* Each variable of a frame, and what is in those that are lists, tuples, dicts or dataclasses, which may be within each other.
 * False: there is more than may be looked at. */
bool lbx_py_look_at_variables(struct lbx_python *py, const struct lbx_py_frame *frame, lbx_py_take_fn *take,
			      void *context);

#endif
