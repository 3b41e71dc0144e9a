/* A vector times a large matrix: bound by the memory that holds the matrix, which is read once. */
#ifndef LB_KERNELS_GEMV_H
#define LB_KERNELS_GEMV_H

#include "kernels/kernels.h"

struct lb_gemv {
	int dtype;            /* of the matrix; x and sums are f32 where it is a half */
	int64_t n, k;         /* results, elements of x */
	const void *x, *w;
	bool turned;          /* results are products with contiguous rows of w, else sums of such rows */
	int64_t stride;       /* from row to row */
	void *to;
	void *sums;           /* lb_gemv_scratch() bytes */
};

int64_t lb_gemv_scratch(const struct lb_gemv *g);
void lb_gemv(struct lb_exec *exec, const struct lb_gemv *g);

#endif
