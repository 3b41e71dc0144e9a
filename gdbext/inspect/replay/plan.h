/* The plan of a replay: what of a graph is computed, as nodes of replay/wire.h, and what is read for
 * it.
 *
 * Backwards, from the asked-for region of the last tensor: what each node needs of its inputs
 * (needs.h), joined over all that need a node. Regions go through views to what lies under them, so
 * views between are left out. What needs all of an input gets it as it is, in its layout.
 * Forwards: each node computes its region; who needs less of it takes a view. So a slice of a
 * giant costs what the slice costs, and its elements have the bits that the whole would have. What is
 * not needed is not looked at, either: a part may be computed where the whole fails, as where an index of
 * lb_take() beside it is out of range. */
#ifndef LBX_PLAN_H
#define LBX_PLAN_H

#include "inspect/graph/graph.h"
#include "inspect/replay/region.h"
#include "replay/wire.h"

enum { LBX_NO_MEMORY = UINT32_MAX }; /* of a ready tensor */

/* What is put behind the nodes: elements of a ready tensor, or a program. */
struct lbx_plan_data {
	uint32_t node;           /* of the plan */
	bool is_program;
	bool gather;             /* the region, row-major; else `bytes` from `low` on */
	int64_t low;             /* element of the buffer */
	uint64_t nbytes;
	struct lbx_region region;
};

struct lbx_plan {
	const struct lbx_graph *graph;
	uint32_t n, nodes_room, from_room, memory_room;
	struct lbx_wire_node *nodes; /* their data_at is not known yet; the last is the result */
	uint32_t *from;              /* node of the graph that each is of */
	uint32_t *memory;            /* node whose memory each is in; or LBX_NO_MEMORY */
	uint64_t n_inputs, inputs_room;
	uint32_t *inputs;            /* indices of nodes */
	uint32_t n_data, data_room;
	struct lbx_plan_data *data;
	uint64_t leaf_bytes;         /* to be read from the program */
};

/* For the region of the first node of the graph. Fails at once if it is known to take more than
 * max_memory bytes. */
bool lbx_plan_region(const struct lbx_graph *graph, const struct lbx_region *region, uint64_t max_memory,
		     struct lbx_plan *ret);
/* Node by node, in the graph's order, and whole. */
bool lbx_plan_whole(const struct lbx_graph *graph, uint64_t max_memory, struct lbx_plan *ret);
/* Fails: `what` takes more memory than a replay may use, `bytes` (0: how much is not known). `advice`, or NULL, is
 * what would help besides raising the limit. */
bool lbx_fail_replay_memory(const char *what, uint64_t bytes, uint64_t limit, const char *advice);
void lbx_plan_deinit(struct lbx_plan *plan);

#endif
