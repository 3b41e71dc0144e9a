/* Matrices made of any others, for the operations of linear algebra. */
#ifndef TESTS_MATRICES_H
#define TESTS_MATRICES_H

#include "lazybones.h"

/* Far from singular, or symmetric and positive, made of a. */
static inline lb_tensor *apart(lb_tensor *a)
{
	int64_t n = lb_dim(a, -1);
	return lb_add(a, lb_multiply(lb_eye(n, n, 0, LB_F64), lb_scalar(3)));
}

static inline lb_tensor *positive(lb_tensor *a)
{
	return apart(lb_matmul(a, lb_swapaxes(a, -1, -2)));
}

/* With eigenvalues that lie apart. */
static inline lb_tensor *spread(lb_tensor *a)
{
	int64_t n = lb_dim(a, -1);
	return lb_add(a, lb_diag(lb_multiply(lb_arange(0, (double)n, 1, LB_F64), lb_scalar(5)), 0));
}

#endif
