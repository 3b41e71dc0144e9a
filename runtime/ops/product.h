/* Operands of matrix products. */
#ifndef LB_OPS_PRODUCT_H
#define LB_OPS_PRODUCT_H

#include "ops/operation.h"

/* A matrix operand with its batch axes broadcast to the product's, and a vector as the
 * row or column that it stands for. */
struct lb_view lb_matrix_view(const struct lb_tensor *x, bool is_b, int batch_rank, const int64_t *batch);

#endif
