/* What a Python program calls its tensors: the paths by which its variables reach them. */
#ifndef LBX_TORCH_NAMES_H
#define LBX_TORCH_NAMES_H

#include "python/walk.h"
#include "tensors/tensors.h"
#include "torch/record.h"

struct lbx_torch_set; /* torch/set.h */

struct lbx_torch_names {
	struct lbx_python *python; /* NULL: there is none, or none that is known */
	struct lbx_py_rules rules;
	struct lbx_py_walk walk;
	struct lbx_torch_held {
		uint64_t object, id; /* Python's, and the tensor's number */
	} *held; /* by object */
	size_t n, room;
	struct lbx_torch_gradient {
		uint64_t address, object; /* the tensor's, and Python's of the tensor whose gradient it is */
	} *gradients; /* by address */
	size_t n_gradients, gradients_room;
	char why[256]; /* there are no names; or "" */
};

/* Of the set's tensors, which have been found. False, with an error: there is no memory, or `progress` has returned false. */
bool lbx_torch_names_find(struct lbx_torch_set *s, bool (*progress)(void *context, int64_t done), void *context);
void lbx_torch_names_free(struct lbx_torch_names *names);

/* Those of a set, which may outlive the target by which it was found. */
struct lbx_torch_names *lbx_torch_names_of(struct lbx_torch_set *s);
/* The tensor that one of Python's objects is, and the one whose gradient a tensor is; NULL: none. */
const struct lbx_torch_held *lbx_torch_held_at(const struct lbx_torch_names *names, uint64_t object);
const struct lbx_torch_gradient *lbx_torch_gradient_at(const struct lbx_torch_names *names, uint64_t tensor);

/* What it is called: as the gradient of a tensor with a path, "model.fc1.weight.grad", or by the shortest path to it; "" if
 * there is none. */
void lbx_torch_name(struct lbx_torch_set *s, const struct lbx_torch_record *r, char ret[LB_NAME_MAX + 1]);
/* What it is for: weights are the parameters and buffers of modules, state is what is kept for each of them, as an optimiser
 * does; gradients are computed. */
enum lbx_usage lbx_torch_usage(struct lbx_torch_set *s, const struct lbx_torch_record *r);
/* The number of the tensor that an expression of Python's leads to, first as `from` says, which may be NULL; 0: of none. Fails where
 * threads have several. */
uint64_t lbx_torch_named(struct lbx_torch_set *s, const char *expression, const struct lbx_viewpoint *from);
/* Why such an expression leads to none (python/expression.h). */
bool lbx_torch_why_not(struct lbx_torch_set *s, const char *expression, const struct lbx_viewpoint *from, char *ret,
		       size_t size);
/* The number of what one of Python's objects is; 0: of none. */
uint64_t lbx_torch_held_by(const struct lbx_torch_set *s, uint64_t object);
/* All paths to it. */
void lbx_torch_tell_paths(struct lbx_torch_set *s, const struct lbx_torch_record *r, lbx_fact_fn *fn, void *context);
void lbx_torch_tell_names(struct lbx_torch_set *s, lbx_fact_fn *fn, void *context);

#endif
