/* The worst case for a tracer: evaluations of one operation over four numbers. Nanoseconds each.
 *
 *	tiny [N]      evaluations, 20000 otherwise */

#include <lazybones.h>

#include "bench.h"

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 20000;
	lb_tensor *x = lb_keep(lb_ones(LB_SHAPE(4), LB_F32));

	lb_eval(x);
	double start = 0;
	for (long i = -n / 10; i < n; i++) {
		if (i == 0)
			start = bench_now();
		LB_SCOPE
			lb_eval(lb_negative(x));
	}
	printf("tiny_ns %g\n", (bench_now() - start) / (double)n * 1e9);
	lb_release(x);
	return lb_ok() ? 0 : 1;
}
