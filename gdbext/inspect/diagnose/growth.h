/* A graph of lazy tensors that grows from turn to turn of a loop. From the deepest one the longest way down is taken; where the same
 * operations come again and again on it, made at the same places, those are turns. So are the layers of a deep model that
 * was built and not yet evaluated: but each of these has weights of its own, where turns have the same, or none. */
#ifndef LBX_GROWTH_H
#define LBX_GROWTH_H

#include "base/number_map.h"
#include "inspect/out.h"
#include "tensors/tensors.h"

enum { LBX_TURNS_LEAST = 64 };

struct lbx_growth_node {
	struct lbx_key key;
	uint64_t like; /* operation, dtype, and where it was made: what the same line of a loop has in common */
	uint32_t first_input, n_inputs; /* into `inputs` */
	uint32_t depth; /* 0: not known yet */
	uint32_t below; /* the deepest of its inputs; NONE: none is lazy */
	bool is_input;
	bool is_number; /* keys of random numbers, counters: many of them in a row are no state */
	bool has_name;
};

struct lbx_growth {
	struct lbx_number_map map; /* from ids to nodes */
	uint32_t n, room;
	struct lbx_growth_node *nodes;
	uint32_t n_inputs, inputs_room;
	uint64_t *inputs; /* ids */
	bool is_cut;
	uint64_t n_computed, computed_room;
	uint64_t *computed; /* ids of those that evaluations have computed */
};

/* What was found. */
struct lbx_growing {
	struct lbx_key root; /* the deepest */
	uint32_t turns; /* from that down; 0: there are none */
	uint32_t period; /* operations of a turn */
	uint32_t depth, lazy; /* operations below it; lazy tensors in all */
	uint64_t
	    computed; /* tensors that were made between the first turn and the last, and that evaluations have computed */
};

/* Takes each tensor of the program in. Fails without memory. */
bool lbx_growth_see(struct lbx_growth *g, const struct lbx_tensor *t);
/* False, with an error: there is no memory. Interrupted, it has found nothing. */
bool lbx_growth_find(struct lbx_growth *g, struct lbx_out *out, struct lbx_growing *ret);
void lbx_growth_deinit(struct lbx_growth *g);

#endif
