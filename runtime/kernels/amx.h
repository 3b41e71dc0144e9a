/* Products of halves by AMX, simd/amx.c. */
#ifndef LB_KERNELS_AMX_H
#define LB_KERNELS_AMX_H

#include "kernels/tile.h"

/* Bytes for the strips of rows of the left matrix, or columns of the right. */
int64_t lb_amx_scratch(int dtype, int64_t lines, int64_t depth);
/* to = or += a @ b, `to` of floats, whose rows are a multiple of LB_AMX_STRIP in number and have as many elements or more: what is
 * beyond m and n is anything. The bits of an element depend on its row and column alone. False, and nothing done, if there are
 * elements that AMX does not multiply as they are: denormal bf16, and f16 that is not finite. */
bool lb_multiply_amx(const struct lb_exec *exec, const struct lb_gemm *gemm, bool add, void *left, void *right);
/* The same to m rows of n elements of the dtype itself, rounded; nothing beyond is written. `sums`: lb_amx_sums() bytes. `packed`:
 * `right` is from the product before, of the same columns. */
int64_t lb_amx_sums(int64_t m, int64_t n);
bool lb_multiply_amx_rounded(const struct lb_exec *exec, const struct lb_gemm *gemm, bool packed, void *left,
			     void *right, void *sums);

#endif
