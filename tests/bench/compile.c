/* A function of tensors called as it is, and compiled: to build its graph, and to evaluate it. */
#include "bench.h"

#include <lazybones.h>

enum { ROUNDS = 41, CALLS = 200 };

static bool elementwise(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *y = in[0];
	(void)context;
	(void)n_in;
	(void)n_out;
	for (int i = 0; i < 10; i++)
		y = lb_maximum(lb_multiply(y, in[1]), in[0]);
	out[0] = y;
	return y != NULL;
}

enum { ROWS = 4, WIDTH = 64, HIDDEN = 128 };
struct block {
	lb_tensor *norm, *up, *gate, *down;
};

static bool block(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct block *b = context;
	(void)n_in;
	(void)n_out;
	lb_tensor *h = lb_rms_norm(in[0], b->norm, 1e-5);
	lb_tensor *g = lb_gelu(lb_matmul(h, b->gate));
	out[0] = lb_add(in[0], lb_matmul(lb_multiply(g, lb_matmul(h, b->up)), b->down));
	return out[0] != NULL;
}

/* Microseconds of a call: to build, to evaluate. */
static void measure(const char *name, lb_function *fn, void *context, lb_compiled *f, int n, lb_tensor **in)
{
	static double build[ROUNDS], eval[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		build[i] = eval[i] = 0;
		for (int k = 0; k < CALLS; k++)
			LB_SCOPE {
				lb_tensor *y = NULL;
				double t0 = bench_now();
				f ? lb_call(f, n, in, 1, &y) : fn(context, n, in, 1, &y);
				double t1 = bench_now();
				lb_eval(y);
				build[i] += t1 - t0;
				eval[i] += bench_now() - t1;
			}
	}
	double b = bench_median(build, ROUNDS) / CALLS * 1e6, e = bench_median(eval, ROUNDS) / CALLS * 1e6;
	printf("%s_%s_build_us %g\n", name, f ? "compiled" : "plain", b);
	printf("%s_%s_us %g\n", name, f ? "compiled" : "plain", b + e);
}

static lb_tensor *normal(lb_list shape, uint64_t seed)
{
	lb_tensor *x = lb_keep(lb_random_normal(shape, LB_F32, lb_key(seed)));
	lb_eval(x);
	return x;
}

static void both(const char *name, lb_function *fn, void *context, int n, lb_tensor **in)
{
	lb_compiled *f = lb_compile(name, fn, context, (lb_compile_options){ 0 });
	measure(name, fn, context, NULL, n, in);
	measure(name, fn, context, f, n, in);
	lb_compiled_free(f);
}

int main(void)
{
	lb_tensor *small[] = { normal(LB_SHAPE(8), 1), normal(LB_SHAPE(8), 2) };
	both("elementwise", elementwise, NULL, 2, small);

	struct block b = { normal(LB_SHAPE(WIDTH), 3), normal(LB_SHAPE(WIDTH, HIDDEN), 4),
			   normal(LB_SHAPE(WIDTH, HIDDEN), 5), normal(LB_SHAPE(HIDDEN, WIDTH), 6) };
	lb_tensor *x = normal(LB_SHAPE(ROWS, WIDTH), 7);
	both("block", block, &b, 1, &x);

	if (!lb_ok())
		fprintf(stderr, "compile: %s\n", lb_error_message());
	return lb_ok() ? 0 : 1;
}
