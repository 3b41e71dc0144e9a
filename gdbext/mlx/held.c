#include "mlx/held.h"

#include <string.h>

#include "mlx/graph.h"
#include "python/holder.h"

enum { NO_NODE = UINT32_MAX };

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
		const struct lbx_mlx_graph *graph = s->names.python ? lbx_mlx_graph(s) : NULL;
		ret->reach = graph && graph->nodes[id - 1].is_input ? LBX_REACH_GRAPH : LBX_REACH_UNKNOWN;
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
