/* Which elements of its sources an element of a node is made of (tensors/part.h). */
#ifndef LBX_GGML_PARTS_H
#define LBX_GGML_PARTS_H

#include "ggml/set.h"
#include "tensors/part.h"

bool lbx_ggml_part(struct lbx_tensors *tensors, const struct lbx_tensor *t, const int64_t *at, uint32_t i,
		   struct lbx_part *ret);

#endif
