/* What each thread of ggml's calls with each node that it computes, whoever has asked for the graph: exported from 2025 on. */
#ifndef LBX_GGML_PER_NODE_H
#define LBX_GGML_PER_NODE_H

#include "target/loader.h"

/* Of all these the first argument leads to a description of the thread, the second is the node. */
struct lbx_ggml_per_node {
	uint64_t one; /* address of the function; 0: there is none */
	uint64_t
	    two; /* the same, with two nodes that are computed as one: the third argument is the second of them; or 0 */
	char unknown
	    [64]; /* the name of a function that computes several nodes as one, of which that is not known; or "" */
};

enum {
	LBX_GGML_THREAD = 0, /* in that description, offsets: the thread's number in its graph, 32 bits */
	LBX_GGML_POOL = 24, /* what those threads have in common, an address */
};

/* False, without an error, where there are none. */
bool lbx_ggml_per_node_find(struct lbx_target *target, struct lbx_ggml_per_node *ret);

#endif
