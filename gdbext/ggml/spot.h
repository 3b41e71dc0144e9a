/* Which node a thread computes. */
#ifndef LBX_GGML_SPOT_H
#define LBX_GGML_SPOT_H

#include "ggml/contexts.h"
#include "ggml/layout.h"
#include "ggml/reuse.h"
#include "ggml/running.h"

/* What it is found by. `id_at` gives the number of the tensor at an address, its ordinal and one; 0: there is none. */
struct lbx_ggml_program {
	struct lbx_target *target;
	const struct lbx_ggml_anchor *anchor;
	const struct lbx_ggml_contexts *contexts;
	uint64_t (*id_at)(void *context, uint64_t address);
	void *context;
	const struct lbx_ggml_layout *layout;
	const struct lbx_ggml_extent *extents; /* of all tensors that have memory */
	size_t n_extents;
};

/* An array of nodes that are all known. */
struct lbx_ggml_array {
	uint64_t at, n;
	uint64_t *nodes; /* addresses */
};

struct lbx_ggml_spot {
	uint64_t slot; /* address of the node's place in an array of nodes; 0: it is not known */
	bool is_several; /* then: more than one may be meant */
	uint64_t id; /* the node's */
	int64_t place, n; /* from 0 on, in the whole graph, and how many that has; -1 and 0: it is not known */
	uint64_t last; /* the number of the graph's last node */
};

enum { LBX_GGML_ARRAYS = 256 };

struct lbx_ggml_spots {
	struct lbx_ggml_spot *list; /* by teller */
	int n;
	int n_arrays; /* of nodes, to which what the threads hold leads */
	struct lbx_ggml_array arrays[LBX_GGML_ARRAYS];
};

/* Nodes that threads may compute, as far as that shows before tensors are known: their addresses, at most `max`. Returns
 * how many; -1 without memory. */
int lbx_ggml_nodes_in_use(struct lbx_target *target, const struct lbx_ggml_anchor *anchor,
			  const struct lbx_ggml_running *running, uint64_t *ret, int max);
/* Of all tellers. To be freed, also after a failure, which is only one of memory. */
bool lbx_ggml_spots_find(const struct lbx_ggml_program *program, const struct lbx_ggml_running *running,
			 struct lbx_ggml_spots *ret);
void lbx_ggml_spots_free(struct lbx_ggml_spots *spots);
/* Where a node is, between which and the next nothing is computed (asked.h); 0: that is not known. Adds the graphs of the
 * contexts to the arrays. */
uint64_t lbx_ggml_asked_slot(const struct lbx_ggml_program *program, uint64_t node, struct lbx_ggml_spots *spots);
/* The graph of a context that holds the slot: a part of it may be computed by a graph of its own, which leads into it.
 * False: there is none, or its nodes are not all known. They are to be freed. */
bool lbx_ggml_whole_graph(const struct lbx_ggml_program *program, uint64_t slot, struct lbx_ggml_array *ret);

#endif
