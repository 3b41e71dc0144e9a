/* The objects that a walk has met, and its nodes. */
#ifndef LBX_PYTHON_MET_H
#define LBX_PYTHON_MET_H

#include "python/walk.h"

struct lbx_py_place {
	uint64_t object; /* 0: free */
	uint32_t first, last; /* nodes */
	uint32_t n; /* paths */
	bool is_member; /* of an instance that has elided members */
	bool is_owner; /* it has some itself */
	bool is_done; /* by the second walk */
};

/* That of an object; its `object` is 0 where it has not been met. */
struct lbx_py_place *lbx_py_place_of(const struct lbx_py_walk *w, uint64_t object);
/* Likewise, made if there is none. Valid until the next one is made. NULL, with an error: there is no memory. */
struct lbx_py_place *lbx_py_make_place(struct lbx_py_walk *w, uint64_t object);
/* Adds a node to the paths of its object. False: there is no memory. Where the walk is full it does nothing. */
bool lbx_py_add_node(struct lbx_py_walk *w, struct lbx_py_place *place, const struct lbx_py_node *node);

#endif
