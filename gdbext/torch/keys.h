/* A tensor's set of dispatch keys, one bit each (c10/core/DispatchKeySet.h). The lowest bits are of devices; then one is of how
 * elements lie, such as densely. Next come the keys of what takes the elements for others: wrappers, functorch, lazy
 * conjugation and negation, tensors that are all 0. Above them are those of autograd, which nearly all have. The numbers
 * change from version to version, the order has not. */
#ifndef LBX_TORCH_KEYS_H
#define LBX_TORCH_KEYS_H

#include <stdbool.h>
#include <stdint.h>

enum { LBX_TORCH_KEYS_BITS = 64 };

/* The lowest key of autograd's (ADInplaceOrView) as a tensor's keys show it; 0: they do not. */
int lbx_torch_view_key(uint64_t keys);
/* Whether nothing takes the elements for others. `view_key`: as other tensors of the program show it; 0: none does. */
bool lbx_torch_is_plain(uint64_t keys, int view_key);

#endif
