/* The tensors that were found of ggml, with what they were found by. They are numbered from 1 on, through all contexts in
 * the order of their addresses, and in each as the program made them: numbers stay the same for as long as the program
 * stands still. An ordinal is a number less one. */
#ifndef LBX_GGML_SET_H
#define LBX_GGML_SET_H

#include "ggml/contexts.h"
#include "ggml/node.h"
#include "ggml/places.h"
#include "ggml/progress.h"
#include "ggml/record.h"
#include "ggml/repacked.h"
#include "ggml/running.h"
#include "ggml/stores.h"
#include "target/window.h"
#include "tensors/tensors.h"

struct lbx_ggml_by_address {
	uint64_t address;
	uint32_t ordinal;
};

struct lbx_ggml_set {
	struct lbx_tensors tensors; /* first */
	int n_modules;
	struct lbx_loaded *modules;
	struct lbx_ggml_anchor anchor;
	struct lbx_ggml_layout layout;
	struct lbx_ggml_contexts contexts;
	struct lbx_ggml_places places;
	struct lbx_ggml_repacks repacks;
	struct lbx_ggml_by_address *sorted; /* all tensors */
	int64_t *writers; /* by ordinal; see reuse.h */
	uint32_t *users; /* by ordinal: tensors that share its memory */
	uint32_t *order; /* by ordinal: of computing them; see order.h */
	struct lbx_ggml_stores stores;
	struct lbx_ggml_kinds kinds;
	bool *is_fused; /* by ordinal; see fused.h */
	bool *is_written; /* by ordinal: of leaves, whether nodes write into them */
	struct lbx_stacks *stacks; /* NULL: not known */
	struct lbx_ggml_running running;
	struct lbx_ggml_spots spots;
	struct lbx_ggml_progress progress;
	bool is_by_code; /* how the layout was decided */
	bool marks_inputs;
	uint64_t first_bad, last_bad;
	struct lbx_walk walk; /* over their records */
};

static inline struct lbx_ggml_set *lbx_ggml_set_of(struct lbx_tensors *tensors)
{
	return (struct lbx_ggml_set *)tensors;
}

struct lbx_target *lbx_ggml_set_target(const struct lbx_ggml_set *g);
/* The last one that begins at or before an address; NULL: none does. */
const struct lbx_ggml_by_address *lbx_ggml_set_before(const struct lbx_ggml_set *g, uint64_t address);
/* The number of the tensor at an address; 0: there is none. */
uint64_t lbx_ggml_set_id(const struct lbx_ggml_set *g, uint64_t address);

bool lbx_ggml_set_read(struct lbx_ggml_set *g, uint64_t address, struct lbx_ggml_record *ret);
/* The one of that ordinal, of a walk over all of them. */
bool lbx_ggml_set_read_next(struct lbx_ggml_set *g, size_t i, struct lbx_ggml_record *ret);
/* What a tensor lies in: itself, or what it is a view of. */
bool lbx_ggml_set_root(struct lbx_ggml_set *g, const struct lbx_ggml_record *r, struct lbx_ggml_record *ret);
/* Whether its operation writes into its memory. */
bool lbx_ggml_set_writes(const struct lbx_ggml_set *g, const struct lbx_ggml_record *r);
/* The backend buffer that it lies in; NULL: not known. */
const struct lbx_ggml_buffer *lbx_ggml_set_buffer(struct lbx_ggml_set *g, const struct lbx_ggml_record *root);

#endif
