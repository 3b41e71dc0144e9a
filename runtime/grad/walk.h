/* The tensors that a gradient may pass, from results down to what it is asked by. */
#ifndef LB_GRAD_WALK_H
#define LB_GRAD_WALK_H

#include "grad/reverse.h"

struct lb_walk_node {
	struct lb_tensor *tensor, *cotangent;
	bool on_path;
};

struct lb_walk_frame {
	uint32_t node, input;
};

struct lb_walk {
	const struct lb_goal *goal;
	struct lb_walk_node *nodes;
	uint32_t *order; /* post-order */
	struct lb_walk_frame *stack;
	uint32_t n, capacity, n_ordered, depth;
	uint32_t *table; /* nodes by address: open addressing, at most half full */
	uint32_t table_size;
};

/* The node of a tensor that the walk has met, or NULL. */
struct lb_walk_node *lb_walk_find(const struct lb_walk *w, const struct lb_tensor *t);
/* Adds one that it has not met; its number. */
bool lb_walk_add(struct lb_walk *w, struct lb_tensor *t, bool on_path, uint32_t *ret);
/* Meets all that the root comes from. */
bool lb_walk_down(struct lb_walk *w, struct lb_tensor *root);
/* An empty one. */
bool lb_walk_init(struct lb_walk *w, const struct lb_goal *goal);
void lb_walk_free(struct lb_walk *w);

#endif
