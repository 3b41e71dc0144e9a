/* The same matrix product by OpenBLAS alone, which chooses its kernels itself or by
 * OPENBLAS_CORETYPE. With an argument it prints the name of the core that it chose, and no more. */
#include "bench.h"

#include <dlfcn.h>

enum { N = 2048, ROUNDS = 7, ROW_MAJOR = 101, NO_TRANSPOSE = 111 };

int main(int argc, char **argv)
{
	(void)argv;
	void *library = dlopen("libopenblas.so.0", RTLD_NOW);
	void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
		      int) = NULL;
	if (library)
		*(void **)&sgemm = dlsym(library, "cblas_sgemm");
	if (argc > 1) {
		char *(*name)(void) = NULL;
		if (library)
			*(void **)&name = dlsym(library, "openblas_get_corename");
		puts(name ? name() : "not known");
		return 0;
	}
	float *a = malloc(sizeof(float) * N * N), *b = malloc(sizeof(float) * N * N);
	float *c = malloc(sizeof(float) * N * N);
	if (!sgemm || !a || !b || !c) {
		fprintf(stderr, "blas: no libopenblas.so.0\n");
		return 1;
	}
	for (size_t i = 0; i < (size_t)N * N; i++) {
		a[i] = (float)(i % 1013) / 1013 - 0.5f;
		b[i] = (float)(i % 997) / 997 - 0.5f;
	}
	double seconds[ROUNDS];
	for (int i = -1; i < ROUNDS; i++) {
		double t = bench_now();
		sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, N, N, N, 1, a, N, b, N, 0, c, N);
		if (i >= 0)
			seconds[i] = bench_now() - t;
	}
	printf("blas_gflops %g\n", 2e-9 * N * (double)N * N / bench_median(seconds, ROUNDS));
	return 0;
}
