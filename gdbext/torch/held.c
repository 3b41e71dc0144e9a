/* Python's object of a tensor, and the tensor, hold each other by turns. Up to 2.9 one of them holds the other, and a bit of the
 * tensor's pointer says that Python's references are gone. From 2.10 on the object holds the tensor, and as long as others than
 * it do, they hold the object by one reference (c10::intrusive_ptr tells of it as "PyObject preservation"). */
#include "torch/held.h"

#include "python/holder.h"
#include "torch/reach.h"

enum { NO_NODE = UINT32_MAX };

static uint32_t node_of(const struct lbx_torch_names *names, uint64_t object)
{
	return object ? lbx_py_walk_find(&names->walk, object) : NO_NODE;
}

/* That of a parameter. */
static void set_module(const struct lbx_torch_names *names, uint32_t node, struct lbx_held *ret)
{
	if (node != NO_NODE && names->walk.nodes[node].step == LBX_PY_MEMBER)
		lbx_py_path_name(&names->walk, names->walk.nodes[node].from, "", ret->module, sizeof ret->module);
}

/* The tensor that a step of the path has for its key, as an optimiser's state has its parameter. */
static uint64_t key_of(const struct lbx_torch_names *names, const struct lbx_py_steps *steps)
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
	struct lbx_py_steps steps;

	ret->reach = LBX_REACH_VARIABLE;
	if (!lbx_py_steps_to(&names->walk, node, &steps))
		return;
	lbx_py_path_name(&names->walk, lbx_py_holder(&names->walk, &steps), front, ret->holder, sizeof ret->holder);
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
