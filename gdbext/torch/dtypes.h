/* The dtypes of PyTorch, as c10/core/ScalarType.h numbers them. */
#ifndef LBX_TORCH_DTYPES_H
#define LBX_TORCH_DTYPES_H

#include "tensors/encoding.h"

struct lbx_torch_dtype {
	struct lbx_encoding encoding; /* its name, and the bytes of an element */
	bool is_plain;     /* it is one of the runtime's */
	const char *why;   /* its elements cannot be shown; NULL: they can */
	bool is_quantized; /* integers, which the tensor's quantizer scales */
};

enum { LBX_TORCH_DTYPES = 46 };

/* NULL: it is none that is known. */
const char *lbx_torch_dtype_name(unsigned number);
/* Of one that has a name. */
void lbx_torch_dtype(unsigned number, struct lbx_torch_dtype *ret);

#endif
