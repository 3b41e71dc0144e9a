/* What those who know ggml ask of it, in its own terms. */
#ifndef LBX_GGML_FACTS_H
#define LBX_GGML_FACTS_H

#include "ggml/contexts.h"
#include "ggml/places.h"
#include "ggml/record.h"
#include "tensors/tensors.h"

/* `buffer` may be NULL. */
void lbx_ggml_tell_record(const struct lbx_ggml_record *r, const struct lbx_ggml_buffer *buffer, lbx_fact_fn *fn,
			  void *context);
/* `places`: those of all tensors must have been asked for. */
void lbx_ggml_tell_set(const struct lbx_ggml_anchor *anchor, const struct lbx_ggml_layout *layout, bool is_by_code,
		       const struct lbx_ggml_contexts *contexts, const struct lbx_ggml_places *places, lbx_fact_fn *fn,
		       void *context);
/* Which of a context's objects holds an address, or begins in front of it: a graph; or the context's memory. False: none. */
bool lbx_ggml_tell_place(const struct lbx_ggml_contexts *contexts, uint64_t address, char *ret, size_t size);

#endif
