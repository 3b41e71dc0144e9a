/* Python's object of a tensor, and the tensor, hold each other by turns. Up to 2.9 one of them holds the other, and a bit of the
 * tensor's pointer says that Python's references are gone. From 2.10 on the object holds the tensor, and as long as others than
 * it do, they hold the object by one reference (c10::intrusive_ptr tells of it as "PyObject preservation"). */
#include "torch/held.h"

#include <stdio.h>
#include <string.h>

#include "torch/reach.h"

enum { MAX_STEPS = 64, NO_NODE = UINT32_MAX, FUNCTION = 96 };

/* A path's nodes, from its variable on. */
struct steps {
	uint32_t list[MAX_STEPS];
	int n;
};

static bool steps_to(const struct lbx_torch_names *names, uint32_t node, struct steps *ret)
{
	ret->n = 0;
	for (; node != NO_NODE && ret->n < MAX_STEPS; node = names->walk.nodes[node].from)
		ret->list[ret->n++] = node;
	for (int i = 0; i < ret->n / 2; i++) {
		uint32_t other = ret->list[ret->n - 1 - i];
		ret->list[ret->n - 1 - i] = ret->list[i];
		ret->list[i] = other;
	}
	return node == NO_NODE && ret->n > 0;
}

static uint32_t node_of(const struct lbx_torch_names *names, uint64_t object)
{
	return object ? lbx_py_walk_find(&names->walk, object) : NO_NODE;
}

/* Which step leads to what holds the rest: the outermost module of a parameter, an optimiser's dict, a list, an object. */
static int holder_of(const struct lbx_torch_names *names, const struct steps *steps)
{
	for (int i = 1; i < steps->n; i++) {
		enum lbx_py_step step = names->walk.nodes[steps->list[i]].step;
		bool is_last = i + 1 == steps->n;
		if (step == LBX_PY_MEMBER || step == LBX_PY_KEY || step == LBX_PY_INDEX ||
		    (is_last && step == LBX_PY_ATTRIBUTE))
			return i - 1;
	}
	return steps->n - 1;
}

static void set_path(const struct lbx_torch_names *names, uint32_t node, const char *front, char ret[LB_NAME_MAX + 1])
{
	char path[LBX_PY_PATH], function[FUNCTION];
	bool is_local = lbx_py_path_function(&names->walk, node, function, sizeof function);

	if (lbx_py_path(&names->walk, node, path) &&
	    snprintf(ret, LB_NAME_MAX + 1, "%s%s%s%s", front, path, is_local ? ", in " : "", is_local ? function : "") >
		LB_NAME_MAX)
		ret[0] = '\0';
}

/* That of a parameter. */
static void set_module(const struct lbx_torch_names *names, uint32_t node, struct lbx_held *ret)
{
	if (node != NO_NODE && names->walk.nodes[node].step == LBX_PY_MEMBER)
		set_path(names, names->walk.nodes[node].from, "", ret->module);
}

/* The tensor that a step of the path has for its key, as an optimiser's state has its parameter. */
static uint64_t key_of(const struct lbx_torch_names *names, const struct steps *steps)
{
	for (int i = 1; i < steps->n; i++) {
		const struct lbx_py_node *node = &names->walk.nodes[steps->list[i]];
		if (node->step == LBX_PY_KEY && lbx_torch_held_at(names, node->key))
			return node->key;
	}
	return 0;
}

static void tell_path(const struct lbx_torch_names *names, uint32_t node, const char *front, struct lbx_held *ret)
{
	struct steps steps;

	ret->reach = LBX_REACH_VARIABLE;
	if (!steps_to(names, node, &steps))
		return;
	set_path(names, steps.list[holder_of(names, &steps)], front, ret->holder);
	uint64_t key = key_of(names, &steps);
	set_module(names, key ? node_of(names, key) : node, ret);
	if (key)
		ret->of = lbx_torch_held_at(names, key)->id;
}

static bool python_holds(const struct lbx_torch_names *names, const struct lbx_torch_record *r)
{
	uint32_t references;

	if (!r->pyobj || r->has_it)
		return false;
	return !r->is_shared ||
	       (lbx_py_read(names->python, r->pyobj, &references, sizeof references) && references > 1);
}

static enum lbx_reach reach_without(struct lbx_torch_set *s, const struct lbx_torch_names *names,
				    const struct lbx_torch_record *r)
{
	size_t number = lbx_torch_number(s->objects, s->n, r->address);

	if (!names->python || names->n == 0)
		return LBX_REACH_UNKNOWN;
	if (python_holds(names, r))
		return names->walk.is_cut ? LBX_REACH_UNKNOWN : LBX_REACH_OBJECTS;
	return number && lbx_torch_is_kept(s, number - 1) ? LBX_REACH_GRAPH : LBX_REACH_RUNTIME;
}

bool lbx_torch_is_reached(struct lbx_torch_set *s, const struct lbx_torch_record *r)
{
	const struct lbx_torch_names *names = lbx_torch_names_of(s);
	const struct lbx_torch_gradient *gradient = lbx_torch_gradient_at(names, r->address);

	return node_of(names, r->pyobj) != NO_NODE || (gradient && node_of(names, gradient->object) != NO_NODE);
}

void lbx_torch_held_tell(struct lbx_torch_set *s, const struct lbx_torch_record *r, struct lbx_held *ret)
{
	const struct lbx_torch_names *names = lbx_torch_names_of(s);
	const struct lbx_torch_gradient *gradient = lbx_torch_gradient_at(names, r->address);
	struct lbx_torch_record of;
	uint32_t node = node_of(names, gradient ? gradient->object : r->pyobj);

	if (gradient) {
		const struct lbx_torch_held *held = lbx_torch_held_at(names, gradient->object);
		ret->is_gradient = true;
		ret->of = held ? held->id : 0;
		if (node == NO_NODE)
			node = node_of(names, r->pyobj);
	}
	uint64_t parameter = ret->of;
	if (node != NO_NODE) {
		tell_path(names, node, gradient && names->walk.nodes[node].object != r->pyobj ? "gradients of " : "",
			  ret);
		ret->of = parameter ? parameter : ret->of;
	} else if (lbx_torch_net_held(s, r->address, ret)) {
		return;
	} else if (parameter && parameter <= s->n &&
		   lbx_torch_record_read(lbx_torch_set_target(s), &s->classes, &s->layout, s->objects[parameter - 1],
					 &of)) {
		ret->reach = reach_without(s, names, &of); /* which holds it */
	} else {
		ret->reach = reach_without(s, names, r);
	}
}

void lbx_torch_holder_fact(struct lbx_torch_set *s, const struct lbx_torch_record *r, lbx_fact_fn *fn, void *context)
{
	struct lbx_held held = { .of = 0 };

	lbx_torch_held_tell(s, r, &held);
	const char *holder = held.holder[0] ? held.holder : lbx_reach_name(held.reach);
	if (*holder)
		fn(context, "holder", holder);
}
