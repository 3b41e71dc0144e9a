#include "mlx/graph.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "mlx/set.h"

enum { NO_NODE = UINT32_MAX, NOT_YET = UINT32_MAX, UNDER_WAY = UINT32_MAX - 1 };
#define EDGES_MAX (UINT64_C(1) << 26)

/* ---- reading it ---- */

static bool add_edges(struct lbx_mlx_set *s, struct lbx_mlx_graph *g, struct lbx_mlx_vertex *node,
		      struct lbx_target *target, const struct lbx_mlx_arrays *arrays)
{
	for (uint32_t i = 0; i < arrays->n && g->n_edges < EDGES_MAX; i++) {
		size_t number = lbx_mlx_number(s, lbx_mlx_array_at(target, arrays, i));
		if (!number)
			continue;
		if (!lb_reserve(g->edges, g->edges_room, g->n_edges + 1))
			return false;
		g->edges[g->n_edges++] = (uint32_t)number - 1;
		g->nodes[number - 1].is_input = true;
		node->n++;
	}
	return true;
}

static bool read_nodes(struct lbx_mlx_set *s, struct lbx_mlx_graph *g)
{
	struct lbx_window window;
	struct lbx_mlx_record r;

	lbx_window_init(&window, lbx_mlx_set_target(s));
	for (size_t i = 0; i < g->n; i++) {
		struct lbx_mlx_vertex *node = &g->nodes[i];
		node->first = g->n_edges;
		if (!lbx_mlx_record_read(&window.target, &s->classes, s->layout, s->objects[i], &r))
			continue;
		node->is_lazy = r.status <= LBX_MLX_SCHEDULED;
		node->buffer = (uint32_t)lbx_mlx_buffer_number(s, r.data);
		if (!add_edges(s, g, node, &window.target, &r.inputs))
			return false;
		node->n_inputs = node->n;
		if (!add_edges(s, g, node, &window.target, &r.siblings))
			return false;
	}
	return true;
}

/* From all that variables lead to at once: who comes first is nearest. */
static bool reach(struct lbx_mlx_set *s, struct lbx_mlx_graph *g)
{
	lb_auto_free uint32_t *queue = malloc((g->n + 1) * sizeof *queue);
	size_t n = 0;

	for (size_t i = 0; queue && i < g->n; i++)
		if (lbx_mlx_node(s, i + 1) != NO_NODE) {
			g->nodes[i].reached_by = (uint32_t)i + 1;
			queue[n++] = (uint32_t)i;
		}
	for (size_t done = 0; done < n; done++) {
		const struct lbx_mlx_vertex *node = &g->nodes[queue[done]];
		for (uint32_t i = 0; i < node->n; i++) {
			struct lbx_mlx_vertex *next = &g->nodes[g->edges[node->first + i]];
			if (next->reached_by)
				continue;
			next->reached_by = node->reached_by;
			next->steps = node->steps + 1;
			queue[n++] = g->edges[node->first + i];
		}
	}
	return queue;
}

const struct lbx_mlx_graph *lbx_mlx_graph(struct lbx_mlx_set *s)
{
	struct lbx_mlx_graph *g = s->graph ? NULL : calloc(1, sizeof *g);

	if (!g)
		return s->graph;
	g->n = s->n;
	g->nodes = calloc(g->n + 1, sizeof *g->nodes);
	if (g->n < NOT_YET && g->nodes && read_nodes(s, g) && reach(s, g))
		s->graph = g;
	else
		lbx_mlx_graph_free(g);
	return s->graph;
}

void lbx_mlx_graph_free(struct lbx_mlx_graph *graph)
{
	if (!graph)
		return;
	free(graph->nodes);
	free(graph->edges);
	free(graph);
}

/* ---- what one array needs ---- */

struct way {
	uint32_t node, next;
};

/* Inputs come first, so that each node's depth is known when it is left. A ring, which only damage makes, ends where it closes. */
static void go_through(const struct lbx_mlx_graph *g, uint32_t from, struct way *stack, uint32_t *depths,
		       struct lbx_mlx_extent *ret)
{
	size_t n = 0;

	stack[n++] = (struct way){ from, 0 };
	depths[from] = UNDER_WAY;
	while (n) {
		struct way *way = &stack[n - 1];
		const struct lbx_mlx_vertex *node = &g->nodes[way->node];
		if (node->is_lazy && way->next < node->n_inputs) {
			uint32_t input = g->edges[node->first + way->next++];
			if (depths[input] != NOT_YET)
				continue;
			depths[input] = UNDER_WAY;
			stack[n++] = (struct way){ input, 0 };
			continue;
		}
		uint32_t depth = 0;
		for (uint32_t i = 0; node->is_lazy && i < node->n_inputs; i++) {
			uint32_t below = depths[g->edges[node->first + i]];
			if (below < UNDER_WAY && below + 1 > depth)
				depth = below + 1;
		}
		depths[way->node] = depth;
		ret->arrays++;
		ret->lazy += node->is_lazy;
		n--;
	}
	ret->depth = depths[from];
}

bool lbx_mlx_extent(const struct lbx_mlx_graph *graph, uint64_t id, struct lbx_mlx_extent *ret)
{
	lb_auto_free struct way *stack = malloc((graph->n + 1) * sizeof *stack);
	lb_auto_free uint32_t *depths = malloc((graph->n + 1) * sizeof *depths);

	*ret = (struct lbx_mlx_extent){ .arrays = 0 };
	if (!stack || !depths || id == 0 || id > graph->n)
		return false;
	for (size_t i = 0; i < graph->n; i++)
		depths[i] = NOT_YET;
	go_through(graph, (uint32_t)id - 1, stack, depths, ret);
	return true;
}
