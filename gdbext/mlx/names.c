#include "mlx/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "mlx/set.h"
#include "python/dict.h"
#include "python/expression.h"

/* Of a Python object that nanobind has made (its nb_inst): how far from it the C++ object lies, and whether it is that itself or
 * the address of it. */
enum { INSTANCE_OFFSET = 0x10, INSTANCE_FLAGS = 0x14, IS_DIRECT = 1 << 2, INSTANCE_MAX = 1 << 10 };

enum { MAX_TOLD = 16, MAX_STEPS = 64, FUNCTION = 96, TEXT = 1024, NO_NODE = UINT32_MAX };

/* Those of a set, which may outlive the target by which it was found. */
static struct lbx_mlx_names *names_of(struct lbx_mlx_set *s)
{
	if (s->names.python)
		lbx_python_use(s->names.python, lbx_mlx_set_target(s));
	return &s->names;
}

/* ---- Python's objects of arrays ---- */

uint64_t lbx_mlx_class(struct lbx_python *py, const char *module, const char *name)
{
	uint64_t globals = lbx_py_globals(py, lbx_py_interpreter(py, 0), module);
	struct lbx_py_dict dict;

	return globals && lbx_py_dict_open(py, globals, &dict) ? lbx_py_dict_find(py, &dict, name) : 0;
}

uint64_t lbx_mlx_of_object(const struct lbx_python *py, uint64_t type, uint64_t object)
{
	uint64_t words[2], of; /* a shared_ptr: the record, and the counts in front of it; the object's type */
	int32_t offset, flags;

	/* most objects are none */
	if (!py || !type || !lbx_py_glance(py, object + LBX_PY_TYPE, &of, sizeof of) || of != type ||
	    !lbx_py_read(py, object + INSTANCE_OFFSET, &offset, sizeof offset) ||
	    !lbx_py_read(py, object + INSTANCE_FLAGS, &flags, sizeof flags) || abs(offset) > INSTANCE_MAX)
		return 0;
	uint64_t at = object + (uint64_t)(int64_t)offset;
	if (!(flags & IS_DIRECT))
		at = lbx_py_word(py, at);
	return lbx_py_read(py, at, words, sizeof words) && words[1] == words[0] - LBX_MLX_FRONT ? words[0] : 0;
}

uint64_t lbx_mlx_held_by(struct lbx_mlx_set *s, uint64_t object)
{
	return lbx_mlx_number(s, lbx_mlx_of_object(names_of(s)->python, s->names.type, object));
}

static bool is_wanted(void *context, uint64_t object)
{
	return lbx_mlx_held_by(context, object) != 0;
}

bool lbx_mlx_is_module(struct lbx_mlx_set *s, uint64_t object)
{
	const struct lbx_mlx_names *names = names_of(s);

	return names->python && names->rules.members_of &&
	       lbx_py_is_derived(names->python, lbx_py_type_of(names->python, object), names->rules.members_of);
}

/* ---- finding them ---- */

static int by_id(const void *a, const void *b)
{
	const struct lbx_mlx_named *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static bool take_found(struct lbx_mlx_set *s)
{
	struct lbx_mlx_names *names = &s->names;

	for (uint32_t i = 0; i < names->walk.n; i++) {
		uint64_t object = names->walk.nodes[i].object;
		if (!names->walk.nodes[i].is_wanted || lbx_py_walk_find(&names->walk, object) != i)
			continue;
		if (!lb_reserve(names->list, names->room, names->n + 1))
			return lb_fail("out of memory for the names of arrays");
		names->list[names->n++] = (struct lbx_mlx_named){ lbx_mlx_held_by(s, object), object };
	}
	if (names->n)
		qsort(names->list, names->n, sizeof *names->list, by_id);
	return true;
}

bool lbx_mlx_names_find(struct lbx_mlx_set *s, bool (*progress)(void *context, int64_t done), void *context)
{
	struct lbx_mlx_names *names = &s->names;
	bool clean = lb_ok();

	names->python = lbx_python_open(lbx_mlx_set_target(s), s->modules, s->n_modules);
	if (!names->python) {
		if (!lb_ok())
			snprintf(names->why, sizeof names->why, "without names, as %s", lb_error_message());
		if (clean)
			lb_clear_error();
		return true;
	}
	lbx_python_watch(names->python, progress, context);
	names->type = lbx_mlx_class(names->python, "mlx.core", "array");
	names->rules =
	    (struct lbx_py_rules){ .is_wanted = is_wanted,
				   .members_of = lbx_mlx_class(names->python, "mlx.nn.layers.base", "Module"),
				   .context = s };
	bool ok = (!names->type || (lbx_py_walk_start(names->python, &names->rules, &names->walk) && take_found(s))) &&
		  lbx_python_goes_on(names->python);
	lbx_python_watch(names->python, NULL, NULL);
	return ok;
}

void lbx_mlx_names_free(struct lbx_mlx_names *names)
{
	lbx_py_walk_end(&names->walk);
	lbx_python_close(names->python);
	free(names->list);
}

/* ---- names ---- */

/* The first of an array's objects; NULL: variables lead to none. Those behind it have the same id. */
static const struct lbx_mlx_named *first_named(const struct lbx_mlx_names *names, uint64_t id)
{
	size_t low = 0, high = names->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (names->list[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < names->n && names->list[low].id == id ? &names->list[low] : NULL;
}

/* The node of the best path: what modules have comes first, then the shortest. */
static uint32_t node_of(const struct lbx_mlx_names *names, uint64_t id)
{
	const struct lbx_mlx_named *named = first_named(names, id);
	const struct lbx_py_node *nodes = names->walk.nodes;
	uint32_t best = NO_NODE;

	for (; named && named < names->list + names->n && named->id == id; named++) {
		uint32_t node = lbx_py_walk_find(&names->walk, named->object);
		if (node != NO_NODE &&
		    (best == NO_NODE || (nodes[node].step == LBX_PY_MEMBER) > (nodes[best].step == LBX_PY_MEMBER) ||
		     (nodes[node].step == nodes[best].step && nodes[node].depth < nodes[best].depth)))
			best = node;
	}
	return best;
}

uint32_t lbx_mlx_node(struct lbx_mlx_set *s, uint64_t id)
{
	return node_of(names_of(s), id);
}

void lbx_mlx_name(struct lbx_mlx_set *s, uint64_t id, char ret[LB_NAME_MAX + 1])
{
	const struct lbx_mlx_names *names = names_of(s);
	uint32_t node = node_of(names, id);
	char path[LBX_PY_PATH];

	ret[0] = '\0';
	if (node != NO_NODE && lbx_py_path(&names->walk, node, path) && strlen(path) <= LB_NAME_MAX)
		strcpy(ret, path);
}

/* Whether one of the path's steps is an attribute `_state`: optimisers of MLX have theirs there. */
static bool is_state(const struct lbx_mlx_names *names, uint32_t node)
{
	const struct lbx_py_node *nodes = names->walk.nodes;
	char name[FUNCTION];

	for (int n = 0; node != NO_NODE && n < MAX_STEPS; n++, node = nodes[node].from)
		if (nodes[node].step == LBX_PY_ATTRIBUTE &&
		    lbx_py_text(names->python, nodes[node].key, name, sizeof name) && strcmp(name, "_state") == 0)
			return true;
	return false;
}

enum lbx_usage lbx_mlx_usage(struct lbx_mlx_set *s, uint64_t id)
{
	const struct lbx_mlx_names *names = names_of(s);
	uint32_t node = node_of(names, id);

	if (node == NO_NODE)
		return LBX_USAGE_UNKNOWN;
	if (lbx_py_is_member(&names->walk, node))
		return LBX_USAGE_WEIGHTS;
	return is_state(names, node) ? LBX_USAGE_STATE : LBX_USAGE_UNKNOWN;
}

/* ---- expressions ---- */

static uint64_t fail_several(struct lbx_mlx_set *s, const char *expression, const struct lbx_py_found *found, int n)
{
	char which[TEXT] = "";

	for (int i = 0; i < n; i++) {
		size_t used = strlen(which);
		snprintf(which + used, sizeof which - used, "%s#%" PRIu64 " in %s (thread %" PRIu64 ")", i ? ", " : "",
			 lbx_mlx_held_by(s, found[i].object), found[i].function, found[i].tid);
	}
	lb_fail("'%s' is another array in each of several threads: %s; say which by #id", expression, which);
	return 0;
}

uint64_t lbx_mlx_named(struct lbx_mlx_set *s, const char *expression, const struct lbx_viewpoint *from)
{
	struct lbx_mlx_names *names = names_of(s);
	struct lbx_py_found found[LBX_PY_FOUND];

	if (!names->python || !names->type)
		return 0;
	lbx_python_refresh(names->python);
	int n = lbx_py_evaluate(names->python, &names->rules, expression, from, found);
	uint64_t id = n ? lbx_mlx_held_by(s, found[0].object) : 0;
	for (int i = 1; i < n; i++)
		if (lbx_mlx_held_by(s, found[i].object) != id)
			return fail_several(s, expression, found, n);
	return id;
}

bool lbx_mlx_why_not(struct lbx_mlx_set *s, const char *expression, const struct lbx_viewpoint *from, char *ret,
		     size_t size)
{
	struct lbx_mlx_names *names = names_of(s);

	return names->python && names->type &&
	       lbx_py_why_not(names->python, &names->rules, expression, from, ret, size);
}

/* ---- what is told ---- */

void lbx_mlx_tell_paths(struct lbx_mlx_set *s, uint64_t id, lbx_fact_fn *fn, void *context)
{
	const struct lbx_mlx_names *names = names_of(s);
	const struct lbx_mlx_named *named = first_named(names, id);
	char path[LBX_PY_PATH], function[FUNCTION], text[LBX_PY_PATH + FUNCTION + 8], first[sizeof text] = "";
	int n = 0;

	for (; named && named < names->list + names->n && named->id == id; named++)
		for (uint32_t node = lbx_py_walk_find(&names->walk, named->object); node != NO_NODE && n < MAX_TOLD;
		     node = names->walk.nodes[node].next) {
			if (!lbx_py_path(&names->walk, node, path))
				continue;
			bool is_local = lbx_py_path_function(&names->walk, node, function, sizeof function);
			snprintf(text, sizeof text, "%s%s%s", path, is_local ? ", in " : "", is_local ? function : "");
			if (strcmp(text, first) == 0)
				continue;
			if (n++ == 0)
				strcpy(first, text);
			fn(context, n == 1 ? "path" : "also", text);
		}
}

void lbx_mlx_tell_names(struct lbx_mlx_set *s, lbx_fact_fn *fn, void *context)
{
	const struct lbx_mlx_names *names = names_of(s);
	char text[TEXT];
	size_t n = 0;

	if (!names->python) {
		if (names->why[0])
			fn(context, "Python", names->why);
		return;
	}
	for (size_t i = 0; i < names->n; i++)
		n += i == 0 || names->list[i].id != names->list[i - 1].id;
	snprintf(text, sizeof text, "%s; variables lead to %zu array%s%s", names->python->version, n, n == 1 ? "" : "s",
		 names->walk.is_cut ? ", perhaps more: not all was looked at" : "");
	fn(context, "Python", text);
}
