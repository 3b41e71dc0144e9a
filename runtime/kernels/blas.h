/* The BLAS in use, and its LAPACK: linked into the program, or opened at first need. */
#ifndef LB_KERNELS_BLAS_H
#define LB_KERNELS_BLAS_H

#include <stdbool.h>
#include <stddef.h>

enum { LB_BLAS_ROW_MAJOR = 101, LB_BLAS_PLAIN = 111, LB_BLAS_TRANSPOSED = 112 };

/* X(name, arguments): of LAPACK what is called here. Matrices lie column by column; what is *info is in their reference,
 * netlib.org/lapack. Fortran's compilers hand the lengths of texts over behind all else. */
#define LB_LAPACK_FUNCTIONS(X) \
	X(getrf, const int *m, const int *n, void *a, const int *lda, int *pivots, int *info) \
	X(getri, const int *n, void *a, const int *lda, const int *pivots, void *work, const int *size, int *info) \
	X(trtri, const char *uplo, const char *diag, const int *n, void *a, const int *lda, int *info, size_t, size_t) \
	X(trtrs, const char *uplo, const char *trans, const char *diag, const int *n, const int *right, const void *a, \
	  const int *lda, void *b, const int *ldb, int *info, size_t, size_t, size_t) \
	X(gesv, const int *n, const int *right, void *a, const int *lda, int *pivots, void *b, const int *ldb, \
	  int *info) \
	X(potrf, const char *uplo, const int *n, void *a, const int *lda, int *info, size_t) \
	X(geqrf, const int *m, const int *n, void *a, const int *lda, void *tau, void *work, const int *size, \
	  int *info) \
	X(orgqr, const int *m, const int *n, const int *k, void *a, const int *lda, const void *tau, void *work, \
	  const int *size, int *info) \
	X(gesdd, const char *job, const int *m, const int *n, void *a, const int *lda, void *s, void *u, \
	  const int *ldu, void *vt, const int *ldvt, void *work, const int *size, int *iwork, int *info, size_t) \
	X(geev, const char *jobvl, const char *jobvr, const int *n, void *a, const int *lda, void *wr, void *wi, \
	  void *vl, const int *ldvl, void *vr, const int *ldvr, void *work, const int *size, int *info, size_t, \
	  size_t) \
	X(syevd, const char *job, const char *uplo, const int *n, void *a, const int *lda, void *w, void *work, \
	  const int *size, int *iwork, const int *isize, int *info, size_t, size_t)

/* The same of complex matrices, whose values are real, or in one; rwork is of real numbers. */
#define LB_LAPACK_COMPLEX_FUNCTIONS(X) \
	X(gesdd, const char *job, const int *m, const int *n, void *a, const int *lda, void *s, void *u, \
	  const int *ldu, void *vt, const int *ldvt, void *work, const int *size, void *rwork, int *iwork, int *info, \
	  size_t) \
	X(geev, const char *jobvl, const char *jobvr, const int *n, void *a, const int *lda, void *w, void *vl, \
	  const int *ldvl, void *vr, const int *ldvr, void *work, const int *size, void *rwork, int *info, size_t, \
	  size_t) \
	X(heevd, const char *job, const char *uplo, const int *n, void *a, const int *lda, void *w, void *work, \
	  const int *size, void *rwork, const int *rsize, int *iwork, const int *isize, int *info, size_t, size_t)

#define LB_FUNCTION(name, ...) void (*name)(__VA_ARGS__);
struct lb_lapack {
	LB_LAPACK_FUNCTIONS(LB_FUNCTION)
};

struct lb_lapack_complex {
	LB_LAPACK_COMPLEX_FUNCTIONS(LB_FUNCTION)
};
#undef LB_FUNCTION

struct lb_blas {
	const struct lb_lapack *f32, *f64; /* NULL: it has none */
	const struct lb_lapack_complex *c64; /* likewise */
	bool threads; /* it divides its products among threads of its own */
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

/* While LAPACK is called, between the two: a BLAS whose products the caller divides has threads for that, or not. */
void lb_blas_lend_threads(bool lent);

#endif
