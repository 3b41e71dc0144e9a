#include "ggml/order.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"

enum { MAX_NODES = 1 << 24 };

/* The beginning of a ggml_cgraph, which has not changed over the years. */
struct head {
	int32_t size, n_nodes, n_leafs, more;
	uint64_t nodes;
};

struct graph {
	struct head head;
	const struct lbx_ggml_context *context;
};

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int larger_first(const void *a, const void *b)
{
	const struct graph *x = a, *y = b;

	return x->head.n_nodes > y->head.n_nodes ? -1 : x->head.n_nodes < y->head.n_nodes;
}

static bool read_graph(struct lbx_target *target, const struct lbx_ggml_context *context, uint64_t at,
		       struct graph *ret)
{
	ret->context = context;
	return lbx_target_try_read(target, at, &ret->head, sizeof ret->head) && ret->head.n_nodes > 0 &&
	       ret->head.n_nodes <= ret->head.size && ret->head.size <= MAX_NODES && ret->head.nodes % 8 == 0;
}

/* The ordinals of its nodes, in its order; false where one is no tensor of the context, or has its place already. */
static bool read_nodes(const struct graph *graph, const uint64_t *addresses, uint64_t (*id_at)(void *, uint64_t),
		       void *context, bool *taken, uint32_t *ret)
{
	size_t n = (size_t)graph->head.n_nodes, i;
	const struct lbx_ggml_context *of = graph->context;

	for (i = 0; i < n; i++) {
		uint64_t id = id_at(context, addresses[i]);
		if (id <= of->first || id > of->first + of->n || taken[id - 1])
			break;
		ret[i] = (uint32_t)(id - 1);
		taken[id - 1] = true;
	}
	for (size_t k = 0; i < n && k < i; k++)
		taken[ret[k]] = false;
	return i == n;
}

/* Its nodes share the places that they have, in its order. */
static bool place(struct lbx_target *target, const struct graph *graph, uint64_t (*id_at)(void *, uint64_t),
		  void *context, bool *taken, uint32_t *order)
{
	size_t n = (size_t)graph->head.n_nodes;
	lb_auto_free uint64_t *addresses = NULL;
	lb_auto_free uint32_t *nodes = NULL, *places = NULL;

	if (n > graph->context->n)
		return true;
	addresses = malloc(n * sizeof *addresses);
	nodes = malloc(n * sizeof *nodes);
	places = malloc(n * sizeof *places);
	if (!addresses || !nodes || !places)
		return lb_fail("out of memory for a graph of %zu nodes", n);
	if (!lbx_target_try_read(target, graph->head.nodes, addresses, n * sizeof *addresses) ||
	    !read_nodes(graph, addresses, id_at, context, taken, nodes))
		return true;
	for (size_t i = 0; i < n; i++)
		places[i] = nodes[i];
	qsort(places, n, sizeof *places, compare_numbers);
	for (size_t i = 0; i < n; i++)
		order[nodes[i]] = places[i];
	return true;
}

bool lbx_ggml_find_order(struct lbx_target *target, const struct lbx_ggml_contexts *contexts,
			 uint64_t (*id_at)(void *context, uint64_t address), void *context, uint32_t *ret)
{
	lb_auto_free struct graph *graphs = malloc((contexts->n_graphs + 1) * sizeof *graphs);
	lb_auto_free bool *taken = calloc(contexts->n_tensors + 1, sizeof *taken);
	size_t n = 0;
	bool ok = (graphs && taken) || lb_fail("out of memory for %zu graphs", contexts->n_graphs);

	for (size_t i = 0; i < contexts->n_tensors; i++)
		ret[i] = (uint32_t)i;
	for (size_t i = 0; ok && i < contexts->n_graphs; i++)
		if (contexts->graphs[i].context < contexts->n &&
		    read_graph(target, &contexts->list[contexts->graphs[i].context], contexts->graphs[i].address,
			       &graphs[n]))
			n++;
	if (ok)
		qsort(graphs, n, sizeof *graphs, larger_first);
	for (size_t i = 0; ok && i < n; i++)
		ok = place(target, &graphs[i], id_at, context, taken, ret);
	return ok;
}
