/* What the program's threads do with ggml, as its set tells it (tensors/work.h). */
#ifndef LBX_GGML_WORK_H
#define LBX_GGML_WORK_H

#include "ggml/set.h"
#include "tensors/work.h"

bool lbx_ggml_work(struct lbx_tensors *tensors, struct lbx_stacks *stacks, uint64_t *slot, struct lbx_work *ret);

#endif
