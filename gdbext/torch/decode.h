/* A tensor of PyTorch as inspections see it. */
#ifndef LBX_TORCH_DECODE_H
#define LBX_TORCH_DECODE_H

#include "torch/set.h"

/* False, quietly, where it is none any more, or is damaged. */
bool lbx_torch_decode(struct lbx_torch_set *s, uint64_t id, const struct lbx_torch_record *r, struct lbx_tensor *ret);
/* Whether what a storage has there is the program's memory. */
bool lbx_torch_is_host(const struct lbx_torch_device *device);
/* "cpu", "cuda:1"; it lives as long as the set. */
const char *lbx_torch_device(struct lbx_torch_set *s, const struct lbx_torch_device *device);

#endif
