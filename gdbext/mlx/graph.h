/* What arrays are made of, all of them at once: as numbers, read once for a set. */
#ifndef LBX_MLX_GRAPH_H
#define LBX_MLX_GRAPH_H

#include "tensors/tensors.h"

struct lbx_mlx_set; /* mlx/set.h */

/* Of n arrays, each known by its number less one. An array leads to its inputs, and to what the same operation gives beside it. */
struct lbx_mlx_graph {
	size_t n;
	struct lbx_mlx_vertex {
		uint64_t first; /* into `edges` */
		uint32_t n_inputs, n; /* inputs, then siblings; both together */
		uint32_t
		    reached_by; /* the number of the nearest array that a variable leads to, and that leads here; 0: none */
		uint32_t steps; /* from that one on */
		uint32_t buffer; /* its number; 0: none */
		bool is_lazy, is_input; /* of another, or given beside one */
	} *nodes;
	uint64_t n_edges, edges_room;
	uint32_t *edges;
};

/* What has to be computed for one array. */
struct lbx_mlx_extent {
	uint64_t arrays, lazy;
	uint32_t depth; /* the longest way down, in steps */
};

/* NULL: there is no memory. It lives as long as the set. */
const struct lbx_mlx_graph *lbx_mlx_graph(struct lbx_mlx_set *s);
void lbx_mlx_graph_free(struct lbx_mlx_graph *graph); /* NULL is fine */
/* False without memory. */
bool lbx_mlx_extent(const struct lbx_mlx_graph *graph, uint64_t id, struct lbx_mlx_extent *ret);

#endif
