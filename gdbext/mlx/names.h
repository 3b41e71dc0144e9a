/* What a Python program calls its arrays: the paths by which its variables reach them. */
#ifndef LBX_MLX_NAMES_H
#define LBX_MLX_NAMES_H

#include "python/walk.h"
#include "tensors/tensors.h"

struct lbx_mlx_set; /* mlx/set.h */

struct lbx_mlx_names {
	struct lbx_python *python; /* NULL: there is none, or none that is known */
	struct lbx_py_rules rules;
	struct lbx_py_walk walk;
	uint64_t type; /* of Python's objects of arrays: mlx.core.array */
	struct lbx_mlx_named {
		uint64_t id, object; /* the array's number, and Python's object of it */
	} *list; /* of those that variables lead to; by id, and of one array in the order of their paths */
	size_t n, room;
	char why[256]; /* there are no names; or "" */
};

/* A class of a module of Python's, by its name; 0: there is none. */
uint64_t lbx_mlx_class(struct lbx_python *py, const char *module, const char *name);
/* The address of the record that one of Python's objects leads to; `type`: mlx.core.array. 0: it is of another type, or damaged. */
uint64_t lbx_mlx_of_object(const struct lbx_python *py, uint64_t type, uint64_t object);

/* Of the set's arrays, which have been found. False, with an error: there is no memory, or `progress` has returned false. */
bool lbx_mlx_names_find(struct lbx_mlx_set *s, bool (*progress)(void *context, int64_t done), void *context);
void lbx_mlx_names_free(struct lbx_mlx_names *names);

/* The node of an array's name; UINT32_MAX: it has none. */
uint32_t lbx_mlx_node(struct lbx_mlx_set *s, uint64_t id);
/* The shortest path to an array; "" if there is none. */
void lbx_mlx_name(struct lbx_mlx_set *s, uint64_t id, char ret[LB_NAME_MAX + 1]);
/* Weights are what modules hold, state is what an optimiser does. */
enum lbx_usage lbx_mlx_usage(struct lbx_mlx_set *s, uint64_t id);
/* The number of the array that an expression of Python's leads to, first as `from` says, which may be NULL; 0: of none. Fails where
 * threads have several. */
uint64_t lbx_mlx_named(struct lbx_mlx_set *s, const char *expression, const struct lbx_viewpoint *from);
/* Why such an expression leads to none (python/expression.h). */
bool lbx_mlx_why_not(struct lbx_mlx_set *s, const char *expression, const struct lbx_viewpoint *from, char *ret,
		     size_t size);
/* The number of what one of Python's objects is; 0: of none. */
uint64_t lbx_mlx_held_by(struct lbx_mlx_set *s, uint64_t object);
/* Whether one of them is a module of a neural network. */
bool lbx_mlx_is_module(struct lbx_mlx_set *s, uint64_t object);
/* All paths to it. */
void lbx_mlx_tell_paths(struct lbx_mlx_set *s, uint64_t id, lbx_fact_fn *fn, void *context);
void lbx_mlx_tell_names(struct lbx_mlx_set *s, lbx_fact_fn *fn, void *context);

#endif
