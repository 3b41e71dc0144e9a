#include "torch/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "python/expression.h"
#include "torch/set.h"

/* Python's object of a tensor leads to it, in 1.13 one word later. */
#define GRADIENT ".grad"

enum { TENSOR = 0x10, TENSOR_LATER = 0x18, MAX_TOLD = 16, MAX_STEPS = 64, FUNCTION = 96, TEXT = 1024 };

static int by_object(const void *a, const void *b)
{
	const struct lbx_torch_held *left = a, *right = b;

	return left->object < right->object ? -1 : left->object > right->object;
}

static int by_address(const void *a, const void *b)
{
	const struct lbx_torch_gradient *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

const struct lbx_torch_held *lbx_torch_held_at(const struct lbx_torch_names *names, uint64_t object)
{
	const struct lbx_torch_held key = { .object = object };

	return names->n ? bsearch(&key, names->held, names->n, sizeof key, by_object) : NULL;
}

static bool is_wanted(void *context, uint64_t object)
{
	return lbx_torch_held_at(context, object) != NULL;
}

static bool leads_to(const struct lbx_python *py, uint64_t object, uint64_t tensor)
{
	return lbx_py_word(py, object + TENSOR) == tensor || lbx_py_word(py, object + TENSOR_LATER) == tensor;
}

static bool add_held(struct lbx_torch_set *s, struct lbx_torch_names *names, const struct lbx_torch_record *r,
		     uint64_t id)
{
	struct lbx_torch_autograd a;

	if (!lb_reserve(names->held, names->room, names->n + 1) ||
	    !lb_reserve(names->gradients, names->gradients_room, names->n_gradients + 1))
		return lb_fail("out of memory for the names of tensors");
	names->held[names->n++] = (struct lbx_torch_held){ r->pyobj, id };
	if (r->autograd && lbx_torch_autograd_read(lbx_torch_set_target(s), &s->autograd, r->autograd, &a) &&
	    a.gradient)
		names->gradients[names->n_gradients++] = (struct lbx_torch_gradient){ a.gradient, r->pyobj };
	return true;
}

static bool find_held(struct lbx_torch_set *s, struct lbx_torch_names *names)
{
	lbx_walk_begin(&s->walk, lbx_torch_set_target(s));
	for (size_t i = 0; i < s->n; i++) {
		struct lbx_target *target = lbx_walk_target(&s->walk, lbx_torch_set_target(s), i);
		struct lbx_torch_record r;
		if (!lbx_torch_record_read(target, &s->classes, &s->layout, s->objects[i], &r) || !r.pyobj ||
		    !leads_to(names->python, r.pyobj, r.address))
			continue;
		if (!add_held(s, names, &r, i + 1))
			return false;
	}
	if (names->n)
		qsort(names->held, names->n, sizeof *names->held, by_object);
	if (names->n_gradients)
		qsort(names->gradients, names->n_gradients, sizeof *names->gradients, by_address);
	return true;
}

bool lbx_torch_names_find(struct lbx_torch_set *s, bool (*progress)(void *context, int64_t done), void *context)
{
	struct lbx_torch_names *names = &s->names;
	bool clean = lb_ok();

	names->rules = (struct lbx_py_rules){ .is_wanted = is_wanted,
					      .elided = { "_parameters", "_buffers", "_modules" },
					      .counted = "Sequential",
					      .counts = "_modules",
					      .context = names };
	names->python = lbx_python_open(lbx_torch_set_target(s), s->modules, s->n_modules);
	if (!names->python) {
		if (!lb_ok())
			snprintf(names->why, sizeof names->why, "without names, as %s", lb_error_message());
		if (clean)
			lb_clear_error();
		return true;
	}
	lbx_python_watch(names->python, progress, context);
	bool ok = find_held(s, names) &&
		  (names->n == 0 || lbx_py_walk_start(names->python, &names->rules, &names->walk)) &&
		  lbx_python_goes_on(names->python);
	lbx_python_watch(names->python, NULL, NULL);
	return ok;
}

void lbx_torch_names_free(struct lbx_torch_names *names)
{
	lbx_py_walk_end(&names->walk);
	lbx_python_close(names->python);
	free(names->held);
	free(names->gradients);
}

struct lbx_torch_names *lbx_torch_names_of(struct lbx_torch_set *s)
{
	if (s->names.python)
		lbx_python_use(s->names.python, lbx_torch_set_target(s));
	return &s->names;
}

static bool path_to(const struct lbx_torch_names *names, uint64_t object, char ret[LBX_PY_PATH])
{
	uint32_t node = object ? lbx_py_walk_find(&names->walk, object) : UINT32_MAX;

	return node != UINT32_MAX && lbx_py_path(&names->walk, node, ret);
}

const struct lbx_torch_gradient *lbx_torch_gradient_at(const struct lbx_torch_names *names, uint64_t tensor)
{
	const struct lbx_torch_gradient key = { .address = tensor };

	return names->n_gradients ? bsearch(&key, names->gradients, names->n_gradients, sizeof key, by_address) : NULL;
}

/* "model.fc1.weight.grad" */
static bool path_of_gradient(const struct lbx_torch_names *names, uint64_t tensor, char ret[LBX_PY_PATH])
{
	const struct lbx_torch_gradient *found = lbx_torch_gradient_at(names, tensor);

	if (!found || !path_to(names, found->object, ret) || strlen(ret) + sizeof GRADIENT > LBX_PY_PATH)
		return false;
	strcat(ret, GRADIENT);
	return true;
}

void lbx_torch_name(struct lbx_torch_set *s, const struct lbx_torch_record *r, char ret[LB_NAME_MAX + 1])
{
	const struct lbx_torch_names *names = lbx_torch_names_of(s);
	char path[LBX_PY_PATH];

	ret[0] = '\0';
	if ((path_of_gradient(names, r->address, path) || path_to(names, r->pyobj, path)) &&
	    strlen(path) <= LB_NAME_MAX)
		strcpy(ret, path);
	else
		lbx_torch_net_name(s, r->address, ret);
}

/* Whether a step of the path is a value of a dict whose key is a tensor: an optimiser has its state so. */
static bool is_kept_by_tensor(const struct lbx_torch_names *names, uint32_t node)
{
	const struct lbx_py_node *nodes = names->walk.nodes;

	for (int n = 0; node != UINT32_MAX && n < MAX_STEPS; n++, node = nodes[node].from)
		if (nodes[node].step == LBX_PY_KEY && lbx_torch_held_at(names, nodes[node].key))
			return true;
	return false;
}

enum lbx_usage lbx_torch_usage(struct lbx_torch_set *s, const struct lbx_torch_record *r)
{
	const struct lbx_torch_names *names = lbx_torch_names_of(s);
	uint32_t node = r->pyobj ? lbx_py_walk_find(&names->walk, r->pyobj) : UINT32_MAX;

	if (lbx_torch_gradient_at(names, r->address))
		return LBX_USAGE_COMPUTE;
	if (node == UINT32_MAX)
		return lbx_torch_net_usage(s, r->address);
	if (names->walk.nodes[node].step == LBX_PY_MEMBER)
		return LBX_USAGE_WEIGHTS;
	return is_kept_by_tensor(names, node) ? LBX_USAGE_STATE : LBX_USAGE_UNKNOWN;
}

/* ---- expressions ---- */

static uint64_t fail_several(const struct lbx_torch_names *names, const char *expression,
			     const struct lbx_py_found *found, int n)
{
	char which[TEXT] = "";

	for (int i = 0; i < n; i++) {
		size_t used = strlen(which);
		snprintf(which + used, sizeof which - used, "%s#%" PRIu64 " in %s (thread %" PRIu64 ")", i ? ", " : "",
			 lbx_torch_held_at(names, found[i].object)->id, found[i].function, found[i].tid);
	}
	lb_fail("'%s' is another tensor in each of several threads: %s; say which by #id", expression, which);
	return 0;
}

/* The number of a tensor's gradient; 0: it has none. */
static uint64_t gradient_of(struct lbx_torch_set *s, uint64_t id)
{
	struct lbx_target *target = lbx_torch_set_target(s);
	struct lbx_torch_autograd a;
	struct lbx_torch_record r;

	if (!id || !lbx_torch_record_read(target, &s->classes, &s->layout, s->objects[id - 1], &r) || !r.autograd ||
	    !lbx_torch_autograd_read(target, &s->autograd, r.autograd, &a))
		return 0;
	return lbx_torch_number(s->objects, s->n, a.gradient);
}

static uint64_t named(struct lbx_torch_set *s, const char *expression, const struct lbx_viewpoint *from)
{
	struct lbx_torch_names *names = lbx_torch_names_of(s);
	struct lbx_py_found found[LBX_PY_FOUND];

	if (!names->python || names->n == 0)
		return 0;
	lbx_python_refresh(names->python);
	int n = lbx_py_evaluate(names->python, &names->rules, expression, from, found);
	if (n > 1)
		return fail_several(names, expression, found, n);
	return n ? lbx_torch_held_at(names, found[0].object)->id : 0;
}

uint64_t lbx_torch_named(struct lbx_torch_set *s, const char *expression, const struct lbx_viewpoint *from)
{
	size_t n = strlen(expression), end = sizeof GRADIENT - 1;
	char of[TEXT];
	uint64_t id = named(s, expression, from);

	if (id || !lb_ok() || n <= end || n >= sizeof of || strcmp(expression + n - end, GRADIENT) != 0)
		return id;
	snprintf(of, sizeof of, "%.*s", (int)(n - end), expression);
	return gradient_of(s, named(s, of, from));
}

bool lbx_torch_why_not(struct lbx_torch_set *s, const char *expression, const struct lbx_viewpoint *from, char *ret,
		       size_t size)
{
	struct lbx_torch_names *names = s->near ? NULL : lbx_torch_names_of(s);

	return names && names->python && names->n &&
	       lbx_py_why_not(names->python, &names->rules, expression, from, ret, size);
}

uint64_t lbx_torch_held_by(const struct lbx_torch_set *s, uint64_t object)
{
	const struct lbx_torch_held *held = lbx_torch_held_at(&s->names, object);

	return held ? held->id : 0;
}

/* ---- what is told ---- */

void lbx_torch_tell_paths(struct lbx_torch_set *s, const struct lbx_torch_record *r, lbx_fact_fn *fn, void *context)
{
	const struct lbx_torch_names *names = lbx_torch_names_of(s);
	uint32_t node = r->pyobj ? lbx_py_walk_find(&names->walk, r->pyobj) : UINT32_MAX;
	char path[LBX_PY_PATH], function[FUNCTION], text[LBX_PY_PATH + FUNCTION + 8], first[sizeof text];

	int n = path_of_gradient(names, r->address, first);
	if (n)
		fn(context, "path", first);
	for (; node != UINT32_MAX && n < MAX_TOLD; node = names->walk.nodes[node].next) {
		if (!lbx_py_path(&names->walk, node, path))
			continue;
		bool is_local = lbx_py_path_function(&names->walk, node, function, sizeof function);
		snprintf(text, sizeof text, "%s%s%s", path, is_local ? ", in " : "", is_local ? function : "");
		if (n > 0 && strcmp(text, first) == 0)
			continue;
		if (n++ == 0)
			strcpy(first, text);
		fn(context, n == 1 ? "path" : "also", text);
	}
}

void lbx_torch_tell_names(struct lbx_torch_set *s, lbx_fact_fn *fn, void *context)
{
	const struct lbx_torch_names *names = lbx_torch_names_of(s);
	char text[TEXT];
	size_t n = 0;

	if (!names->python) {
		if (names->why[0])
			fn(context, "Python", names->why);
		return;
	}
	for (size_t i = 0; i < names->n; i++)
		n += lbx_py_walk_find(&names->walk, names->held[i].object) != UINT32_MAX;
	snprintf(text, sizeof text, "%s; it holds %zu tensor%s, and variables lead to %zu%s", names->python->version,
		 names->n, names->n == 1 ? "" : "s", n,
		 names->walk.is_cut ? ", perhaps more: not all was looked at" : "");
	fn(context, "Python", text);
}
