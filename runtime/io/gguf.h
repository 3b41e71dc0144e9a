/* What reading and writing GGUF share. */
#ifndef LB_IO_GGUF_H
#define LB_IO_GGUF_H

#include <stdint.h>

#include "lazybones.h"

enum { LB_GGUF_ALIGNMENT = 32 /* of tensors, where the file does not say otherwise */ };

/* ggml's number for a tensor of that dtype; false: it has none. */
bool lb_gguf_type(enum lb_dtype dtype, uint32_t *ret);

#endif
