/* Products of bfloat16 by the processor's own instruction, simd/pairs.c. */
#ifndef LB_KERNELS_PAIRS_H
#define LB_KERNELS_PAIRS_H

#include "kernels/tile.h"

/* Whether this processor has it. */
bool lb_has_pairs(void);
/* Bytes for the strips of rows of the left matrix, or columns of the right. */
int64_t lb_pairs_scratch_left(int64_t rows, int64_t depth);
int64_t lb_pairs_scratch_right(int64_t columns, int64_t depth);
/* to = or += a @ b, `to` of floats, with room for an even number of rows of a multiple of LB_PAIRS_COLUMNS elements: what is beyond
 * m and n is anything. The bits of an element depend on its row, its column, and whether there is a
 * denormal element in a or b; not on the threads. */
void lb_multiply_pairs(const struct lb_exec *exec, const struct lb_gemm *gemm, bool add, void *left, void *right);

#endif
