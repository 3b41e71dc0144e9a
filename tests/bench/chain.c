/* A fused elementwise chain over 256 MiB beside a plain copy of the same memory. */
#include "bench.h"

#include <pthread.h>

#include <lazybones.h>

enum { ELEMENTS = 64 << 20, ROUNDS = 7, MAX_THREADS = 16 };

struct part {
	char *to;
	const char *from;
	size_t nbytes;
};

static void *copy_part(void *arg)
{
	struct part *part = arg;
	memcpy(part->to, part->from, part->nbytes);
	return NULL;
}

static void copy_with(int n, char *to, const char *from, size_t nbytes)
{
	pthread_t threads[MAX_THREADS];
	struct part parts[MAX_THREADS];
	size_t each = nbytes / (size_t)n;
	for (int i = 0; i < n; i++) {
		parts[i] = (struct part){ to + (size_t)i * each, from + (size_t)i * each, each };
		pthread_create(&threads[i], NULL, copy_part, &parts[i]);
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static lb_tensor *cheap(lb_tensor *x)
{
	return lb_maximum(lb_add(lb_multiply(x, lb_scalar(2)), lb_scalar(1)), lb_negative(x));
}

static lb_tensor *gelu(lb_tensor *x)
{
	return lb_multiply(lb_multiply(x, lb_scalar(0.5)),
			   lb_add(lb_erf(lb_multiply(x, lb_scalar(0.70710678))), lb_scalar(1)));
}

static lb_tensor *silu(lb_tensor *x)
{
	return lb_multiply(x, lb_sigmoid(x));
}

static void measure(const char *key, lb_tensor *(*chain)(lb_tensor *), lb_tensor *x)
{
	double seconds[ROUNDS];
	for (int i = -1; i < ROUNDS; i++) {
		LB_SCOPE {
			lb_tensor *y = chain(x);
			double t = bench_now();
			lb_eval(y);
			if (i >= 0)
				seconds[i] = bench_now() - t;
		}
	}
	/* read once, written once */
	printf("%s_gbs %g\n", key, 2e-9 * (double)lb_nbytes(x) / bench_median(seconds, ROUNDS));
}

int main(void)
{
	const size_t nbytes = (size_t)ELEMENTS * sizeof(float);
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	int n = cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (int)cores;
	char *from = malloc(nbytes), *to = malloc(nbytes);
	if (!from || !to)
		return 1;
	memset(from, 1, nbytes); /* not 0: the compiler would make that calloc, of no memory */
	memset(to, 2, nbytes);
	for (int all = 0; all < 2; all++) {
		double seconds[ROUNDS];
		for (int i = 0; i < ROUNDS; i++) {
			double t = bench_now();
			copy_with(all ? n : 1, to, from, nbytes);
			seconds[i] = bench_now() - t;
		}
		printf("%s_gbs %g\n", all ? "memcpy_all" : "memcpy_one",
		       2e-9 * (double)nbytes / bench_median(seconds, ROUNDS));
	}
	free(from);
	free(to);

	lb_tensor *x = lb_keep(lb_random_uniform(LB_SHAPE(ELEMENTS), -4, 4, LB_F32, lb_key(1)));
	lb_eval(x);
	measure("cheap", cheap, x);
	measure("silu", silu, x);
	measure("gelu", gelu, x);
	if (!lb_ok())
		fprintf(stderr, "chain: %s\n", lb_error_message());
	return lb_ok() ? 0 : 1;
}
