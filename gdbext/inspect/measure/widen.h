/* Elements of any dtype as float or double, at memory speed. */
#ifndef LBX_WIDEN_H
#define LBX_WIDEN_H

#include "inspect/tensor/array.h"
#include "tensors/tensor.h"

/* n elements of LB_F16 or LB_BF16, exactly; aligned. */
void lbx_widen_halves(enum lb_dtype dtype, const uint16_t *from, int n, float *to);
/* n elements of any real dtype, at any address: exact but for 64-bit integers beyond 2^53. Of
 * complex ones, 2 n numbers: n is that of the parts then, and the dtype is LB_F32. */
void lbx_widen(enum lb_dtype dtype, const void *from, int n, double *to);
/* n real elements of an array that is row-major and in this process, from the first-th on. */
void lbx_widen_local(const struct lbx_array *array, int64_t first, int64_t n, double *to);

#endif
