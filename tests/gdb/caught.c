/* What the sessions of `tensor catch` look at: each event once, or twice. */
#include <stdlib.h>
#include <string.h>

#include "lazybones.h"

enum { TURNS = 1200 };

static volatile double result; /* not printed: gdb prints, too */

__attribute__((noinline)) static double sum_raw(const float *p, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += p[i];
	return sum;
}

static void read_raw(lb_tensor *rows, lb_tensor *reversed)
{
	const float *first = lb_raw_data(rows), *second = lb_raw_data(reversed);
	float copy[12];

	result = sum_raw(first, 12);
	for (size_t i = 0; i < 4; i++)
		copy[i] = second[i];
	result = copy[3];
}

static void promote(void)
{
	lb_tensor *half = lb_named("half", lb_ones(LB_SHAPE(2, 2), LB_F16));
	lb_tensor *single = lb_named("single", lb_ones(LB_SHAPE(2), LB_F32));
	lb_tensor *wide = lb_named("wide", lb_ones(LB_SHAPE(2, 2), LB_F64));

	half = lb_multiply(half, lb_scalar(2.5)); /* stays half */
	lb_named("mixed", lb_add(half, single));
	lb_named("wider", lb_matmul(single, wide));
}

static bool twice(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	out[0] = lb_add(in[0], in[0]);
	return !context && n_in == 1 && n_out == 1 && out[0];
}

static void recompile(void)
{
	lb_compiled *f = lb_compile("twice", twice, NULL, (lb_compile_options){ .limit = 4 });
	lb_compiled *g = lb_compile("other", twice, NULL, (lb_compile_options){ .limit = 4 });
	lb_tensor *y;

	for (int64_t n = 2; n < 4; n++) {
		lb_tensor *x = lb_ones(LB_SHAPE(n), LB_F32);

		lb_call(g, 1, &x, 1, &y);
		lb_call(f, 1, &x, 1, &y);
		lb_call(f, 1, &x, 1, &y);
	}
	lb_compiled_free(f);
	lb_compiled_free(g);
}

static void pile_up(void)
{
	lb_tensor *total = lb_scalar(0), *one = lb_ones(LB_SHAPE(2), LB_F32);

	for (int i = 0; i < TURNS; i++)
		total = lb_add(total, one);
	lb_eval(lb_named("total", total));
}

static void fill(void)
{
	lb_tensor *large = lb_named("large", lb_ones(LB_SHAPE(1024, 1024), LB_F32));
	lb_tensor *scores = lb_named("scores", lb_multiply(large, lb_scalar(71.5)));

	lb_eval(large);
	lb_eval(scores, lb_named("turned", lb_transpose(scores, LB_ALL_AXES)));
}

int main(int argc, char **argv)
{
	LB_SCOPE {
		lb_tensor *q = lb_named("q", lb_reshape(lb_arange(0, 12, 1, LB_F32), LB_SHAPE(3, 4)));
		lb_tensor *rows = lb_named("rows", lb_transpose(q, LB_ALL_AXES));
		lb_tensor *reversed = lb_named("reversed", lb_slice(q, LB_REVERSED));

		lb_eval(q, rows, reversed);
		read_raw(rows, reversed);
		promote();
		recompile();
		pile_up();
		fill();
	}
	if (argc > 1 && strcmp(argv[1], "crash") == 0)
		*(volatile int *)8 = 3;
	return lb_ok() ? 0 : 1;
}
