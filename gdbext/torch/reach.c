#include "torch/reach.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/vector.h"

/* ---- what each node keeps ---- */

static bool add_kept(struct lbx_torch_set *s, struct lbx_torch_node *node, uint64_t address)
{
	struct lbx_torch_graph *graph = &s->graph;
	size_t number = lbx_torch_number(s->objects, s->n, address);
	struct lbx_torch_record r;

	if (!number || !lbx_torch_record_read(lbx_torch_set_target(s), &s->classes, &s->layout, address, &r))
		return true;
	if (!lb_reserve(graph->kept, graph->kept_room, graph->n_kept + 1))
		return false;
	graph->kept[graph->n_kept++] = (uint32_t)number - 1;
	node->n_kept++;
	return true;
}

static bool find_kept(struct lbx_torch_set *s)
{
	struct lbx_torch_graph *graph = &s->graph;
	uint64_t words[LBX_TORCH_NODE_WORDS];
	struct lbx_window window;

	if (graph->is_kept)
		return true;
	if (!(graph->is_kept = calloc(s->n + 1, sizeof *graph->is_kept)))
		return lb_fail("out of memory");
	lbx_window_init(&window, lbx_torch_set_target(s));
	for (uint64_t i = 0; i < graph->n; i++) {
		struct lbx_torch_node *node = &graph->nodes[i];
		node->first_kept = graph->n_kept;
		size_t n = node->leaf ? 0 : lbx_torch_node_words(&graph->kinds, &window.target, node->address, words);
		for (size_t k = 0; k < n; k++)
			if (!add_kept(s, node, words[k]))
				return lb_fail("out of memory for autograd's graph, of %llu nodes",
					       (unsigned long long)graph->n);
	}
	for (uint64_t i = 0; i < graph->n_kept; i++)
		graph->is_kept[graph->kept[i]] = true;
	for (uint64_t i = 0; i < graph->n; i++) {
		size_t leaf = lbx_torch_number(s->objects, s->n, graph->nodes[i].leaf);
		if (leaf)
			graph->is_kept[leaf - 1] = true;
	}
	return true;
}

bool lbx_torch_is_kept(struct lbx_torch_set *s, size_t number)
{
	return s->graph.n && find_kept(s) && s->graph.is_kept[number];
}

/* ---- a part ---- */

bool lbx_torch_reach_init(struct lbx_torch_reach *reach, struct lbx_torch_set *s)
{
	*reach = (struct lbx_torch_reach){ .s = s };
	reach->seen = calloc(s->graph.n + 1, sizeof *reach->seen);
	reach->nodes = calloc(s->graph.n + 1, sizeof *reach->nodes);
	reach->kept = calloc(s->n + 1, sizeof *reach->kept);
	reach->tensors = calloc(s->n + 1, sizeof *reach->tensors);
	return (reach->seen && reach->nodes && reach->kept && reach->tensors && find_kept(s)) ||
	       lb_fail("out of memory for autograd's graph");
}

void lbx_torch_reach_deinit(struct lbx_torch_reach *reach)
{
	free(reach->seen);
	free(reach->nodes);
	free(reach->kept);
	free(reach->tensors);
	*reach = (struct lbx_torch_reach){ .n = 0 };
}

void lbx_torch_reach_begin(struct lbx_torch_reach *reach)
{
	reach->part++;
	reach->n = reach->n_tensors = reach->n_leaves = 0;
}

static void see(struct lbx_torch_reach *reach, const struct lbx_torch_node *node)
{
	uint64_t number = (uint64_t)(node - reach->s->graph.nodes);

	if (reach->seen[number] == reach->part)
		return;
	reach->seen[number] = reach->part;
	reach->nodes[reach->n++] = (uint32_t)number;
	reach->n_leaves += node->leaf != 0;
}

void lbx_torch_reach_walk(struct lbx_torch_reach *reach, const struct lbx_torch_node *from)
{
	const struct lbx_torch_graph *graph = &reach->s->graph;
	uint64_t i = reach->n;

	for (see(reach, from); i < reach->n; i++) {
		const struct lbx_torch_node *node = &graph->nodes[reach->nodes[i]];
		for (uint64_t k = node->first_kept; k < node->first_kept + node->n_kept; k++) {
			uint32_t tensor = graph->kept[k];
			if (reach->kept[tensor] == reach->part)
				continue;
			reach->kept[tensor] = reach->part;
			reach->tensors[reach->n_tensors++] = tensor;
		}
		for (uint32_t k = 0; k < node->n_edges; k++) {
			const struct lbx_torch_node *next =
			    lbx_torch_node_at(graph, graph->edges[node->first_edge + k].node);
			if (next)
				see(reach, next);
		}
	}
}
