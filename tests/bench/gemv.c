/* A vector times a matrix of N x N through the runtime, the matrix as weights (outputs, inputs) that
 * are transposed ("t") or as it is ("n"), in us; and OpenBLAS's sgemv. */
#include "bench.h"

#include <dlfcn.h>
#include <lazybones.h>

enum { N = 4096, ROUNDS = 15, ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };

static void runtime(lb_dtype dtype, bool transpose)
{
	double seconds[ROUNDS];
	LB_SCOPE {
		lb_tensor *x = lb_random_normal(LB_SHAPE(1, N), dtype, lb_key(1));
		lb_tensor *w = lb_random_normal(LB_SHAPE(N, N), dtype, lb_key(2));
		lb_eval(x, w);
		for (int i = -1; i < ROUNDS; i++)
			LB_SCOPE {
				lb_tensor *y = lb_matmul(x, transpose ? lb_transpose(w, LB_ALL_AXES) : w);
				double t = bench_now();
				lb_eval(y);
				if (i >= 0)
					seconds[i] = bench_now() - t;
			}
	}
	printf("gemv_%s_%c_us %g\n", lb_dtype_name(dtype), transpose ? 't' : 'n', 1e6 * bench_median(seconds, ROUNDS));
}

static bool blas(void)
{
	void *library = dlopen("libopenblas.so.0", RTLD_NOW);
	void (*sgemv)(int, int, int, int, float, const float *, int, const float *, int, float, float *, int) = NULL;
	if (library)
		*(void **)&sgemv = dlsym(library, "cblas_sgemv");
	float *w = malloc(sizeof(float) * N * N), *x = malloc(sizeof(float) * N), *y = malloc(sizeof(float) * N);
	if (!sgemv || !w || !x || !y) {
		fprintf(stderr, "gemv: no libopenblas.so.0\n");
		return false;
	}
	for (size_t i = 0; i < (size_t)N * N; i++)
		w[i] = (float)(i % 1013) / 1013 - 0.5f;
	for (size_t i = 0; i < N; i++)
		x[i] = (float)(i % 997) / 997 - 0.5f;
	for (int transpose = 0; transpose < 2; transpose++) {
		double seconds[ROUNDS];
		for (int i = -1; i < ROUNDS; i++) {
			double t = bench_now();
			sgemv(ROW_MAJOR, transpose ? NO_TRANSPOSE : TRANSPOSE, N, N, 1, w, N, x, 1, 0, y, 1);
			if (i >= 0)
				seconds[i] = bench_now() - t;
		}
		printf("gemv_blas_%c_us %g\n", transpose ? 't' : 'n', 1e6 * bench_median(seconds, ROUNDS));
	}
	free(w);
	free(x);
	free(y);
	return true;
}

int main(void)
{
	static const lb_dtype dtypes[] = { LB_F32, LB_F16, LB_BF16 };
	for (int i = 0; i < 6; i++)
		runtime(dtypes[i / 2], i % 2 == 0);
	bool found = blas(); /* last: its threads look for work for some 30 ms more */
	if (!lb_ok())
		fprintf(stderr, "gemv: %s\n", lb_error_message());
	return found && lb_ok() ? 0 : 1;
}
