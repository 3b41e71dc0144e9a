/* What the tests of step mode look at: three rounds of one graph, then
 *
 *	stepped            another graph, from a compiled function, for two shapes
 *	stepped segv       a kernel that reads memory which is not there
 *	stepped fpe        a callback that divides by zero, while ops of a graph run
 *	stepped abort      one that aborts
 *	stepped threads    two threads, each with its own stream and graph, at the same time */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lazybones.h"

static volatile double result; /* not printed: gdb prints, too */
static volatile int zero;

__attribute__((noinline)) static void rounds(int n)
{
	for (int i = 0; i < n; i++) {
		LB_SCOPE {
			lb_tensor *x = lb_named("x", lb_arange(0, 12, 1, LB_F32));
			lb_tensor *m = lb_reshape(x, LB_SHAPE(3, 4));
			lb_tensor *p = lb_named("p", lb_matmul(m, lb_transpose(m, LB_SHAPE(1, 0))));
			lb_tensor *y = lb_multiply(lb_add(p, lb_scalar(1.5)), lb_scalar(0.01));
			lb_eval(lb_named("y", lb_exp(y)));
		}
	}
}

__attribute__((noinline)) void together(void)
{
	__asm__ volatile("" : : : "memory");
}

static bool gate(void *unused, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)unused, (void)n_in, (void)n_out;
	out[0] = lb_tanh(lb_multiply(lb_negative(in[0]), lb_scalar(2)));
	return out[0] != NULL;
}

static void compiled(void)
{
	lb_compiled *f = lb_compile("gate", gate, NULL, (lb_compile_options){ 0 });

	for (int n = 4; n < 6; n++) {
		LB_SCOPE {
			lb_tensor *in = lb_sqrt(lb_arange(0, n, 1, LB_F32)), *out;
			lb_call(f, 1, &in, 1, &out);
			lb_eval(lb_named("gated", out));
		}
	}
	together();
	lb_compiled_free(f);
}

static void die(void *data, void *how)
{
	(void)data;
	if (strcmp(how, "fpe") == 0)
		zero = 7 / zero;
	abort();
}

static void crash(const char *how)
{
	static float few[4] = { 1, 2, 3, 4 };
	size_t bytes = 1 << 16;
	bool segv = strcmp(how, "segv") == 0;
	void *hole = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	lb_tensor *y = NULL;

	LB_SCOPE {
		lb_tensor *data = segv ? lb_from_memory(hole, bytes, LB_SHAPE(128, 128), LB_F32, NULL, NULL)
				       : lb_from_memory(few, sizeof few, LB_SHAPE(4), LB_F32, die, (void *)how);
		lb_tensor *broken = lb_named("broken", lb_sum(data, LB_AXES(0), false));
		y = lb_keep(lb_named("y", lb_negative(lb_exp(broken))));
	}
	lb_eval(y);
}

static pthread_barrier_t barrier;

/* Called inside both evaluations. */
static void meet(void *data, void *unused)
{
	(void)data, (void)unused;
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		together();
	pthread_barrier_wait(&barrier);
}

static void *evaluate(void *name)
{
	static float few[2][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } };
	bool first = *(char *)name == 'a';
	lb_on_stream on = lb_on_stream_begin(lb_stream_new(name));
	lb_tensor *y = NULL;

	LB_SCOPE {
		lb_tensor *x = lb_from_memory(few[first], sizeof few[first], LB_SHAPE(4), LB_F32, meet, NULL);
		y = lb_keep(lb_named(name, first ? lb_sum(x, LB_ALL_AXES, false) : lb_exp(x)));
	}
	lb_eval(y);
	lb_release(y);
	lb_on_stream_end(&on);
	return NULL;
}

static void threads(void)
{
	static char *const names[] = { "alpha", "beta" };
	pthread_t thread[2];

	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, evaluate, names[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	rounds(3);
	if (!*mode)
		compiled();
	else if (strcmp(mode, "threads") == 0)
		threads();
	else
		crash(mode);
	return 0;
}
