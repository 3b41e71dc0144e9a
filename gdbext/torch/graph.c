#include "torch/graph.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/vector.h"
#include "target/window.h"

enum { NODES_MAX = 1 << 20, EDGES_MAX = 1 << 22 };

/* Addresses, each once. */
struct known {
	uint64_t *slots, n_slots, n;
};

/* Whether it is new; *failed: there is no memory. */
static bool add_known(struct known *known, uint64_t address, bool *failed)
{
	if (known->n * 2 >= known->n_slots) {
		struct known more = { .n_slots = known->n_slots ? known->n_slots * 2 : 1024 };
		if (!(more.slots = calloc(more.n_slots, sizeof *more.slots))) {
			*failed = true;
			return false;
		}
		for (uint64_t i = 0; i < known->n_slots; i++)
			if (known->slots[i])
				add_known(&more, known->slots[i], failed);
		free(known->slots);
		*known = more;
	}
	uint64_t at = (address >> 4) * 0x9e3779b97f4a7c15ULL >> 20 & (known->n_slots - 1);
	while (known->slots[at] && known->slots[at] != address)
		at = (at + 1) & (known->n_slots - 1);
	if (known->slots[at])
		return false;
	known->slots[at] = address;
	known->n++;
	return true;
}

static bool add_node(struct lbx_torch_graph *graph, struct lbx_target *target, struct known *known, uint64_t address)
{
	bool failed = false;

	if (graph->n == NODES_MAX) {
		graph->is_cut = true;
		return true;
	}
	const struct lbx_torch_node_class *class = lbx_torch_node_class(&graph->kinds, target, address);
	if (!class || !add_known(known, address, &failed))
		return !failed;
	if (!lb_reserve(graph->nodes, graph->room, graph->n + 1))
		return false;
	graph->nodes[graph->n++] = (struct lbx_torch_node){ .address = address, .op = class->name };
	return true;
}

/* Those that a node leads to become nodes, too. */
static bool follow(struct lbx_torch_graph *graph, struct lbx_target *target, struct known *known, uint64_t i)
{
	struct lbx_torch_edge *edges;
	size_t n;
	bool ok = true;

	graph->nodes[i].first_edge = graph->n_edges;
	lbx_torch_node_edges(&graph->kinds, target, graph->nodes[i].address, &edges, &n);
	for (size_t k = 0; k < n && ok && !graph->is_cut; k++) {
		if (!edges[k].node || !lbx_torch_node_class(&graph->kinds, target, edges[k].node))
			continue;
		graph->is_cut = graph->n_edges == EDGES_MAX;
		ok = add_node(graph, target, known, edges[k].node) &&
		     lb_reserve(graph->edges, graph->edges_room, graph->n_edges + 1);
		if (ok) {
			graph->edges[graph->n_edges++] = edges[k];
			graph->nodes[i].n_edges++;
		}
	}
	free(edges);
	return ok;
}

static int by_address(const void *a, const void *b)
{
	const struct lbx_torch_node *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int by_node(const void *a, const void *b)
{
	const struct lbx_torch_computed *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

struct lbx_torch_node *lbx_torch_node_at(const struct lbx_torch_graph *graph, uint64_t address)
{
	const struct lbx_torch_node key = { .address = address };

	return graph->n ? bsearch(&key, graph->nodes, graph->n, sizeof key, by_address) : NULL;
}

static bool find_nodes(struct lbx_torch_graph *graph, struct lbx_target *target,
		       const struct lbx_torch_computed *computed, size_t n)
{
	struct known known = { 0 };
	bool ok = true;

	for (size_t i = 0; i < n && ok; i++)
		ok = add_node(graph, target, &known, computed[i].node);
	for (uint64_t i = 0; i < graph->n && ok; i++)
		ok = follow(graph, target, &known, i);
	free(known.slots);
	return ok || lb_fail("out of memory for autograd's graph, of %llu nodes", (unsigned long long)graph->n);
}

bool lbx_torch_graph_find(struct lbx_torch_graph *graph, struct lbx_target *target, struct lbx_torch_computed *computed,
			  size_t n)
{
	struct lbx_window window;
	size_t n_nodes = 0;

	if (n == 0)
		return true;
	lbx_window_init(&window, target);
	qsort(computed, n, sizeof *computed, by_node);
	for (size_t i = 0; i < n; i++)
		if (lbx_torch_node_class(&graph->kinds, &window.target, computed[i].node))
			computed[n_nodes++] = computed[i];
	if (!lbx_torch_nodes_decide(&graph->kinds, &window.target, computed, n_nodes))
		return true;
	if (!find_nodes(graph, &window.target, computed, n_nodes))
		return false;
	if (graph->n)
		qsort(graph->nodes, graph->n, sizeof *graph->nodes, by_address);
	for (size_t i = 0; i < n_nodes; i++) {
		struct lbx_torch_node *node = lbx_torch_node_at(graph, computed[i].node);
		if (node && computed[i].tensor)
			node->tensor = node->tensor ? LBX_TORCH_SEVERAL : computed[i].tensor;
	}
	return true;
}

void lbx_torch_graph_free(struct lbx_torch_graph *graph)
{
	lbx_torch_nodes_free(&graph->kinds);
	free(graph->nodes);
	free(graph->edges);
	free(graph->kept);
	free(graph->is_kept);
	*graph = (struct lbx_torch_graph){ .n = 0 };
}
