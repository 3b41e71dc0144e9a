/* What a small graph node costs: to build, to evaluate, in time and in memory. */
#include "bench.h"

#include <lazybones.h>

enum { NODES = 10000, ROUNDS = 51, MANY = 1000000 };

static double resident_bytes(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f) {
		if (fscanf(f, "%*d %ld", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static lb_tensor *chain(lb_tensor *x, int n)
{
	lb_tensor *y = x;
	for (int i = 0; i < n; i++)
		y = lb_add(y, x);
	return y;
}

/* Sums over an axis of size 1: nothing that could be fused. */
static lb_tensor *single_ops(lb_tensor *x, int n)
{
	lb_tensor *y = x;
	for (int i = 0; i < n; i++)
		y = lb_sum(y, LB_AXES(0), true);
	return y;
}

/* Seconds to build, to evaluate and to free a node. */
static void measure(lb_tensor *x, lb_tensor *(*graph)(lb_tensor *, int), double ret[3])
{
	double build[ROUNDS], eval[ROUNDS], release[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		lb_scope scope = lb_scope_begin();
		double t0 = bench_now();
		lb_tensor *y = graph(x, NODES);
		double t1 = bench_now();
		lb_eval(y);
		double t2 = bench_now();
		lb_scope_end(&scope);
		build[i] = t1 - t0;
		eval[i] = t2 - t1;
		release[i] = bench_now() - t2;
	}
	ret[0] = bench_median(build, ROUNDS) / NODES;
	ret[1] = bench_median(eval, ROUNDS) / NODES;
	ret[2] = bench_median(release, ROUNDS) / NODES;
}

int main(void)
{
	lb_tensor *x = lb_keep(lb_zeros(LB_SHAPE(1, 4), LB_F32));
	double cost[3];

	lb_eval(x);
	measure(x, chain, cost);
	printf("build_ns %g\n", cost[0] * 1e9);
	printf("eval_fused_ns %g\n", cost[1] * 1e9);
	printf("free_ns %g\n", cost[2] * 1e9);
	measure(x, single_ops, cost);
	printf("eval_single_ns %g\n", cost[1] * 1e9);

	double seconds[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		double t = bench_now();
		for (int k = 0; k < 1000; k++) {
			LB_SCOPE {
				lb_eval(lb_add(x, x));
			}
		}
		seconds[i] = bench_now() - t;
	}
	printf("roundtrip_ns %g\n", bench_median(seconds, ROUNDS) / 1000 * 1e9);

	double before = resident_bytes();
	LB_SCOPE {
		chain(x, MANY);
		printf("node_bytes %g\n", (resident_bytes() - before) / MANY);
	}
	if (!lb_ok())
		fprintf(stderr, "nodes: %s\n", lb_error_message());
	return lb_ok() ? 0 : 1;
}
