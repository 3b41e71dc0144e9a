/* How a Python program reaches certain objects: a walk from its variables, through dicts, lists, tuples and attributes, each
 * object once, so what is near comes first. Its limits bound what it takes, whatever the memory holds. */
#ifndef LBX_PYTHON_WALK_H
#define LBX_PYTHON_WALK_H

#include "python/python.h"

enum { LBX_PY_ELIDED = 4, LBX_PY_DEPTH = 24 /* of steps */ };

/* What is looked for, and how it is told. */
struct lbx_py_rules {
	bool (*is_wanted)(void *context, uint64_t object);
	/* Attributes whose dicts' members are written as the instance's own: with "_modules" a.fc, not a._modules['fc'].
	 * NULL at the end. */
	const char *elided[LBX_PY_ELIDED + 1];
	/* A class whose instances have indices that count their members in this attribute, whatever these are called:
	 * "Sequential" and "_modules". NULL: none has. */
	const char *counted, *counts;
	/* A type: what dicts derived from it hold are their members, too, and what lists and dicts among these hold is written
	 * as members are: a.layers.0.fc. 0: none. */
	uint64_t members_of;
	void *context;
};

enum lbx_py_step {
	LBX_PY_LOCAL, /* a variable of a function */
	LBX_PY_GLOBAL, /* of __main__ */
	LBX_PY_OF_MODULE, /* of another module: its name */
	LBX_PY_ATTRIBUTE,
	LBX_PY_MEMBER, /* of a dict that is elided, or is an instance itself */
	LBX_PY_KEY,
	LBX_PY_INDEX
};

struct lbx_py_node {
	uint64_t object;
	uint64_t key; /* of the step to it: a str, another object, or the index */
	uint64_t function; /* of a variable of a function: the function's name, a str */
	uint32_t from; /* the node that the step begins at; UINT32_MAX: none */
	uint32_t next; /* the next path to the same object; UINT32_MAX: none is known */
	uint8_t step, depth;
	bool is_wanted;
};

struct lbx_py_walk {
	struct lbx_python *py;
	const struct lbx_py_rules *rules;
	struct lbx_py_node *nodes; /* the nearest first */
	size_t n, room;
	struct lbx_py_place *places; /* by object */
	size_t n_places, places_room;
	struct lbx_py_rest {
		uint32_t node;
		int64_t at;
	} *rests; /* what large objects hold from there on: it is gone through last */
	size_t n_rests, rests_room;
	uint64_t function; /* whose variables are being looked at */
	uint64_t main; /* the variables of __main__ */
	uint64_t looked; /* how many references were looked at */
	size_t most_nodes; /* of the part that is under way: it is full, */
	uint64_t most_looked;
	bool is_full;
	bool is_cut; /* or some part was: there may be more */
};

/* All of it; the rules must outlive it. False, with an error: there is no memory, or the user wants no more of it. */
bool lbx_py_walk_start(struct lbx_python *py, const struct lbx_py_rules *rules, struct lbx_py_walk *ret);
void lbx_py_walk_end(struct lbx_py_walk *walk); /* all 0 is fine */

/* The first of the paths to an object that was wanted, as a node; UINT32_MAX: none. What is a member of instances within
 * instances comes first as the outermost one has it, the others follow by their length. */
uint32_t lbx_py_walk_find(const struct lbx_py_walk *walk, uint64_t object);

/* Whether the path's last steps are to a member, and to what is within a list or dict that is one. */
bool lbx_py_is_member(const struct lbx_py_walk *walk, uint32_t node);

enum { LBX_PY_PATH = 1024 };
/* "model.fc1.weight", "batch['x']", "optimizer.state[model.fc1.weight]['exp_avg']". False: it has no room. */
bool lbx_py_path(const struct lbx_py_walk *walk, uint32_t node, char ret[LBX_PY_PATH]);
/* A key that is a str, with its brackets: "['x']". False: it has no room. */
bool lbx_py_key_text(const char *key, char *ret, size_t size);
/* The function whose variable such a path begins with; false: it is a module's. */
bool lbx_py_path_function(const struct lbx_py_walk *walk, uint32_t node, char *ret, size_t size);

#endif
