/* The BLAS in use: linked into the program, or opened at first need. */
#ifndef LB_KERNELS_BLAS_H
#define LB_KERNELS_BLAS_H

#include <stdbool.h>

enum { LB_BLAS_ROW_MAJOR = 101, LB_BLAS_PLAIN = 111, LB_BLAS_TRANSPOSED = 112 };

struct lb_blas {
	void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
		      const float *b, int ldb, float beta, float *c, int ldc);
	void (*dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double *a, int lda,
		      const double *b, int ldb, double beta, double *c, int ldc);
	void (*cgemm)(int order, int trans_a, int trans_b, int m, int n, int k, const void *alpha, const void *a,
		      int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
};

/* The BLAS, to be called by this thread until lb_blas_leave(). NULL, and nothing to leave, when there
 * is none, the program exits, or the thread is in such a section already: a signal handler, over a
 * product. May open a library: take time, and allocate. */
const struct lb_blas *lb_blas_enter(void);
void lb_blas_leave(void);

#endif
