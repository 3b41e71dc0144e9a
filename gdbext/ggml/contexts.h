/* The ggml_contexts of a program, found in what it may write, and the tensors in them. */
#ifndef LBX_GGML_CONTEXTS_H
#define LBX_GGML_CONTEXTS_H

#include "ggml/anchor.h"

struct lbx_ggml_context {
	uint64_t address;
	uint64_t memory, size; /* what its objects are in, as it says */
	uint64_t used;         /* bytes of that, up to the end of the last object */
	size_t first, n;       /* of its tensors, in `tensors` below */
};

/* A ggml_cgraph that a context holds. */
struct lbx_ggml_graph {
	uint64_t address;
	size_t context;
};

struct lbx_ggml_contexts {
	struct lbx_ggml_context *list;
	size_t n, room;
	uint64_t *tensors; /* addresses, in the order in which the program made them in each context */
	size_t n_tensors, tensors_room;
	struct lbx_ggml_graph *graphs;
	size_t n_graphs, graphs_room;
	uint64_t smallest, smallest_at; /* bytes of an object that is a tensor, and which is; 0 without one */
	/* Contexts whose objects cannot be all that they were, or lie in another's: their tensors are not among these.
	 * The addresses are of the objects where that shows. */
	size_t n_broken;
	uint64_t first_broken, last_broken;
};

/* `nodes` are n tensors that threads compute now: the contexts in whose memory they are may be let go of already, as long
 * as nobody else uses that. In one pass, which tells its progress in bytes after each piece; where that returns false the
 * search ends, and fails. It fails, too, where there is more than it can take, so that nothing is missing unsaid.
 * `module` is ggml's own, whose data has contexts that may be out of use. What is found is to be freed, also after a
 * failure. */
bool lbx_ggml_contexts_find(struct lbx_target *target, const struct lbx_loaded *module, const uint64_t *nodes, int n,
			    bool (*progress)(void *context, int64_t done), void *context,
			    struct lbx_ggml_contexts *ret);
void lbx_ggml_contexts_free(struct lbx_ggml_contexts *contexts);

#endif
