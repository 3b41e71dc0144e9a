#include "mlx/held.h"

#include <stdlib.h>
#include <string.h>

#include "python/holder.h"

enum { NO_NODE = UINT32_MAX };

static void mark(struct lbx_mlx_set *s, const struct lbx_mlx_arrays *arrays)
{
	for (uint32_t i = 0; i < arrays->n; i++) {
		size_t number = lbx_mlx_number(s, lbx_mlx_array_at(lbx_mlx_set_target(s), arrays, i));
		if (number)
			s->is_input[number - 1] = true;
	}
}

/* Which are inputs of others, or given beside them. NULL: there is no memory. */
static const bool *inputs_of_others(struct lbx_mlx_set *s)
{
	struct lbx_window window;
	struct lbx_mlx_record r;

	if (s->is_input || !(s->is_input = calloc(s->n + 1, sizeof *s->is_input)))
		return s->is_input;
	lbx_window_init(&window, lbx_mlx_set_target(s));
	for (size_t i = 0; i < s->n; i++)
		if (lbx_mlx_record_read(&window.target, &s->classes, s->layout, s->objects[i], &r)) {
			mark(s, &r.inputs);
			mark(s, &r.siblings);
		}
	return s->is_input;
}

/* That of a parameter: its name up to the last point. */
static void set_module(const char *name, struct lbx_held *ret)
{
	const char *end = strrchr(name, '.');

	if (end)
		memcpy(ret->module, name, (size_t)(end - name));
}

void lbx_mlx_held_tell(struct lbx_mlx_set *s, uint64_t id, struct lbx_held *ret)
{
	uint32_t node = lbx_mlx_node(s, id);
	const struct lbx_py_walk *walk = &s->names.walk;
	struct lbx_py_steps steps;
	char name[LB_NAME_MAX + 1];

	if (node == NO_NODE) {
		const bool *is_input = s->names.python ? inputs_of_others(s) : NULL;
		ret->reach = is_input && is_input[id - 1] ? LBX_REACH_GRAPH : LBX_REACH_UNKNOWN;
		return;
	}
	ret->reach = LBX_REACH_VARIABLE;
	if (!lbx_py_steps_to(walk, node, &steps))
		return;
	lbx_py_path_name(walk, lbx_py_holder(walk, &steps), "", ret->holder, sizeof ret->holder);
	lbx_mlx_name(s, id, name);
	if (lbx_py_is_member(walk, node))
		set_module(name, ret);
}

void lbx_mlx_holder_fact(struct lbx_mlx_set *s, uint64_t id, lbx_fact_fn *fn, void *context)
{
	struct lbx_held held = { .of = 0 };

	lbx_mlx_held_tell(s, id, &held);
	const char *holder = held.holder[0] ? held.holder : lbx_reach_name(held.reach);
	if (*holder)
		fn(context, "holder", holder);
}
