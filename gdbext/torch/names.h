/* What a Python program calls its tensors: the paths by which its variables reach them. */
#ifndef LBX_TORCH_NAMES_H
#define LBX_TORCH_NAMES_H

#include "python/walk.h"
#include "tensors/tensors.h"

struct lbx_torch_set; /* torch/set.h */

struct lbx_torch_names {
	struct lbx_python *python; /* NULL: there is none, or none that is known */
	struct lbx_py_rules rules;
	struct lbx_py_walk walk;
	struct lbx_torch_held {
		uint64_t object, id; /* Python's, and the tensor's number */
	} *held; /* by object */
	size_t n, room;
	char why[256]; /* there are no names; or "" */
};

/* Of the set's tensors, which have been found. False: there is no memory. */
bool lbx_torch_names_find(struct lbx_torch_set *s);
void lbx_torch_names_free(struct lbx_torch_names *names);

/* The shortest path to the tensor with that object of Python's; "" without one. */
void lbx_torch_name(struct lbx_torch_set *s, uint64_t pyobj, char ret[LB_NAME_MAX + 1]);
/* The number of the tensor that an expression of Python's leads to; 0: of none. Fails where threads have several. */
uint64_t lbx_torch_named(struct lbx_torch_set *s, const char *expression);
/* Likewise of one of Python's objects. */
uint64_t lbx_torch_held_by(const struct lbx_torch_set *s, uint64_t object);
/* All paths to it. */
void lbx_torch_tell_paths(struct lbx_torch_set *s, uint64_t pyobj, lbx_fact_fn *fn, void *context);
void lbx_torch_tell_names(struct lbx_torch_set *s, lbx_fact_fn *fn, void *context);

#endif
