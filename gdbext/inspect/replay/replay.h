/* Replay: the value of a lazy tensor, computed outside the program from what its memory holds.
 * The graph down to the ready tensors is copied to a shared memory file; the program
 * `lazybones-replay` computes it under limits of memory and time. The inspected program, alive
 * or dead, is only read. */
#ifndef LBX_REPLAY_H
#define LBX_REPLAY_H

#include "inspect/command.h"
#include "inspect/graph/graph.h"
#include "inspect/measure/summary.h"
#include "inspect/replay/region.h"
#include "inspect/tensor/array.h"
#include "inspect/tensor/slice.h"
#include "replay/wire.h"
#include "tensors/doubt.h"

struct lbx_replayed {
	struct lbx_array array; /* after the slice; valid until lbx_replay_release() */
	enum lbx_doubt doubt;
	uint32_t n_nodes;       /* operations and leaves of the graph, needed or not */
	uint64_t leaf_bytes;    /* read from the program */
	void *map;
	size_t map_bytes;
};

/* False, saying why, for what kernels do not take: blocks, and more axes than the runtime's tensors have. */
bool lbx_can_replay(const struct lbx_tensor *t);

/* The elements that the slice (NULL: all) takes: only what they need is read and computed. Fails
 * with the reason: a slice that does not fit, a record that is damaged, torn or gone, a graph or leaves beyond the
 * limits of context->settings, an error of the operations (which node), a replay that died. */
bool lbx_replay(struct lbx_context *context, const struct lbx_tensor *t, const struct lbx_slice *slice,
		struct lbx_replayed *ret);
/* Of the steps that t's recipe has, the one that stands so far before the end (1: the last): its elements in the region. */
bool lbx_replay_recipe_step(struct lbx_context *context, const struct lbx_tensor *t, uint32_t from_end,
			    const struct lbx_region *region, struct lbx_replayed *ret);
void lbx_replay_release(struct lbx_replayed *replayed);

/* What all the values hold that a replay of t computes on its way. */
struct lbx_ranges {
	struct lbx_graph graph;
	struct lbx_summary *nodes; /* by index in graph.nodes */
};

/* As lbx_replay(). */
bool lbx_replay_ranges(struct lbx_context *context, const struct lbx_tensor *t, uint32_t max_nodes,
		       struct lbx_ranges *ret);
void lbx_ranges_deinit(struct lbx_ranges *ranges);

/* How the element of t at these coordinates is computed: its one operation, or its program's. */
struct lbx_steps {
	int n; /* 0 of a tensor that is not elementwise */
	struct lbx_wire_step steps[LB_PROGRAM_INSNS];
};

/* As lbx_replay(); t is computed again, ready or not. */
bool lbx_replay_steps(struct lbx_context *context, const struct lbx_tensor *t, const int64_t *at, uint32_t max_nodes,
		      struct lbx_steps *ret);

#endif
