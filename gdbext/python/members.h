/* The second part of a walk: instances within instances, by the members that are written as their own. */
#ifndef LBX_PYTHON_MEMBERS_H
#define LBX_PYTHON_MEMBERS_H

#include "python/walk.h"

/* Whether the attribute with that name, a str, holds such members. */
bool lbx_py_is_elided(const struct lbx_py_walk *w, uint64_t name);
/* Whether an object is a dict whose values are its members (struct lbx_py_rules). */
bool lbx_py_has_members(const struct lbx_py_walk *w, uint64_t object);
/* Of a walk that has met all: adds the paths by members alone, from the outermost instances on. False: there is no memory. */
bool lbx_py_walk_members(struct lbx_py_walk *w);

#endif
