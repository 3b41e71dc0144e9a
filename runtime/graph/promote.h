/* Which dtype operations compute in and give. */
#ifndef LB_GRAPH_PROMOTE_H
#define LB_GRAPH_PROMOTE_H

#include "graph/tensor.h"

/* The common dtype of n tensors; weak scalars take the others', where their kind allows. Fails
 * for an integer literal that the common dtype cannot hold. */
bool lb_common_dtype(const char *op, int n, struct lb_tensor *const *xs, enum lb_dtype *ret, const void *site);
/* Brings all to their common dtype, which must be floating. */
bool lb_common_float(const char *op, int n, struct lb_tensor **xs, enum lb_dtype *ret, const void *site);
/* A weak scalar made anew, strong, or an astype node. */
struct lb_tensor *lb_as_new(struct lb_tensor *x, enum lb_dtype dtype, const void *site);
/* x as dtype: x itself, or as that has it. */
static inline struct lb_tensor *lb_as(struct lb_tensor *x, enum lb_dtype dtype, const void *site)
{
	return (enum lb_dtype)x->dtype == dtype ? x : lb_as_new(x, dtype, site);
}
/* Floating and complex dtypes as they are; anything else f32. */
enum lb_dtype lb_inexact(enum lb_dtype dtype);
/* Indices must be of an integer dtype. */
bool lb_check_indices(const char *op, const struct lb_tensor *indices);

#endif
