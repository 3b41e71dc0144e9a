/* matmul through the runtime, N x N, in GFLOP/s. */
#include "bench.h"

#include <lazybones.h>

enum { N = 2048, ROUNDS = 7 };

int main(void)
{
	static const struct {
		lb_dtype dtype;
		const char *key;
	} rows[] = {
		{ LB_F32, "matmul_f32" },
		{ LB_F16, "matmul_f16" },
		{ LB_BF16, "matmul_bf16" },
	};
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		double seconds[ROUNDS];
		LB_SCOPE {
			lb_tensor *a = lb_random_normal(LB_SHAPE(N, N), rows[k].dtype, lb_key(1));
			lb_tensor *b = lb_random_normal(LB_SHAPE(N, N), rows[k].dtype, lb_key(2));
			lb_eval(a, b);
			for (int i = -1; i < ROUNDS; i++) {
				LB_SCOPE {
					lb_tensor *c = lb_matmul(a, b);
					double t = bench_now();
					lb_eval(c);
					if (i >= 0)
						seconds[i] = bench_now() - t;
				}
			}
		}
		printf("%s_gflops %g\n", rows[k].key, 2e-9 * N * (double)N * N / bench_median(seconds, ROUNDS));
	}
	if (!lb_ok())
		fprintf(stderr, "matmul: %s\n", lb_error_message());
	return lb_ok() ? 0 : 1;
}
