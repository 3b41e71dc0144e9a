/* A tensor of ggml as inspections see it. */
#ifndef LBX_GGML_DECODE_H
#define LBX_GGML_DECODE_H

#include "ggml/set.h"

/* False, quietly, where it is damaged. */
bool lbx_ggml_decode(struct lbx_ggml_set *g, uint64_t id, struct lbx_tensor *ret);
/* Of the record that it has. */
bool lbx_ggml_decode_record(struct lbx_ggml_set *g, uint64_t id, const struct lbx_ggml_record *from,
			    struct lbx_tensor *ret);
/* The address of input i: its sources, but for itself, as a cast has it; then what it is a view of if that is no source.
 * 0: there are i. */
uint64_t lbx_ggml_input_at(const struct lbx_ggml_record *r, uint32_t i);

#endif
