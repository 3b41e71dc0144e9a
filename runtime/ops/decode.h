/* Elements out of the bytes of files, lazily. */
#ifndef LB_OPS_DECODE_H
#define LB_OPS_DECODE_H

#include "graph/tensor.h"

/* The bytes that a shape takes in an encoding; fails, beginning with `op`, if it has none there. */
bool lb_encoded_bytes(const char *op, enum lb_encoding encoding, lb_list shape, enum lb_dtype dtype, int64_t *ret);
/* lb_decode() for the call at `site`. */
struct lb_tensor *lb_decode_at(struct lb_tensor *bytes, enum lb_encoding encoding, lb_list shape, enum lb_dtype dtype,
			       const void *site);

#endif
