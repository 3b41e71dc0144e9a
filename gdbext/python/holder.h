/* Who holds what a path of a walk leads to. */
#ifndef LBX_PYTHON_HOLDER_H
#define LBX_PYTHON_HOLDER_H

#include "python/walk.h"

enum { LBX_PY_STEPS = 64 };

/* A path's nodes, from its variable on. */
struct lbx_py_steps {
	uint32_t list[LBX_PY_STEPS];
	int n;
};

/* False: there are too many. */
bool lbx_py_steps_to(const struct lbx_py_walk *walk, uint32_t node, struct lbx_py_steps *ret);
/* The node of what holds the rest: the outermost instance of a member, a dict, a list, an object; or the variable itself. */
uint32_t lbx_py_holder(const struct lbx_py_walk *walk, const struct lbx_py_steps *steps);
/* The path behind a text, with the function of a variable: "gradients of model", "hidden, in train". "" where it has no room, or
 * there is no such path. */
void lbx_py_path_name(const struct lbx_py_walk *walk, uint32_t node, const char *front, char *ret, size_t size);

#endif
