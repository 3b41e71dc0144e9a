/* The ggml_contexts of a program, found in what it may write, and the tensors in them. */
#ifndef LBX_GGML_CONTEXTS_H
#define LBX_GGML_CONTEXTS_H

#include "ggml/anchor.h"

struct lbx_ggml_context {
	uint64_t address;
	uint64_t memory, size; /* what its objects are in */
	size_t first, n;       /* of its tensors, in `tensors` below */
};

struct lbx_ggml_contexts {
	struct lbx_ggml_context *list;
	size_t n, room;
	uint64_t *tensors; /* addresses, in the order in which the program made them in each context */
	size_t n_tensors, tensors_room;
	uint64_t smallest; /* bytes of an object that is a tensor; 0 without one */
};

/* In one pass, which tells its progress in bytes after each piece; where that returns false the search ends, and
 * fails. `module` is ggml's own, whose data has contexts that may be out of use. */
bool lbx_ggml_contexts_find(struct lbx_target *target, const struct lbx_loaded *module,
			    bool (*progress)(void *context, int64_t done), void *context,
			    struct lbx_ggml_contexts *ret);
void lbx_ggml_contexts_free(struct lbx_ggml_contexts *contexts);

#endif
