/* What the gdb tests look at: tensors of every kind that a command treats differently.
 *
 *	subject          runs through, with one misuse, one implicit evaluation, one NaN
 *	subject wait     says "ready" and waits to be attached to, or killed
 *	subject abort    dies, and leaves a core
 *	subject fork     goes on in a child, too
 *	subject huge     has a tensor that takes long to look at */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lazybones.h"

struct layer {
	lb_tensor *w, *b;
};
static void add_slow(lb_tensor *huge);
lb_tensor *cache[4];
static pthread_barrier_t barrier;
static volatile double result; /* not printed: gdb prints, too */

__attribute__((noinline)) void checkpoint(struct layer *layer)
{
	__asm__ volatile("" : : "r"(layer) : "memory");
}

static void *other_thread(void *context)
{
	(void)context;
	pthread_barrier_wait(&barrier); /* it is there */
	pthread_barrier_wait(&barrier); /* it may go */
	return NULL;
}

static lb_tensor *named(const char *name, lb_tensor *x)
{
	return lb_keep(lb_named(name, x));
}

static void misuse(lb_tensor *x)
{
	const float *p = lb_raw_data(x);

	result = p ? p[1] : 0;
}

static double implicit(lb_tensor *x)
{
	return lb_item(lb_sum(x, LB_ALL_AXES, false));
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct layer layer;
	pthread_t thread;
	lb_tensor *q, *qt, *half, *brain, *bad, *lazy, *unnamed, *reversed, *row;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_barrier_wait(&barrier);

	q = named("q", lb_reshape(lb_arange(0, 12, 1, LB_F32), LB_SHAPE(3, 4)));
	qt = named("blk.0.qt", lb_transpose(q, LB_ALL_AXES));
	half = named("half", lb_astype(lb_divide(q, lb_scalar(3)), LB_F16));
	brain = named("brain", lb_astype(half, LB_BF16));
	bad = named("bad", lb_log(lb_subtract(q, lb_scalar(1))));
	reversed = named("a name", lb_slice(q, LB_REVERSED, LB_RANGE(0, 4, 2)));
	row = named("row", lb_slice(q, LB_AT(1)));
	layer.w = named("layer.w", lb_eye(3, 3, 0, LB_F32));
	layer.b = lb_keep(lb_ones(LB_SHAPE(3), LB_I32));
	lb_eval(q, qt, half, brain, bad, reversed, row, layer.b);
	lazy = named("lazy", lb_matmul(q, lb_exp(lb_negative(qt))));
	unnamed = lb_keep(lb_add(lazy, layer.w));
	cache[1] = lazy;
	cache[2] = q;
	if (strcmp(mode, "huge") == 0)
		add_slow(named("huge", lb_as_strided(lb_ones(LB_SHAPE(2000000), LB_F32),
						    LB_SHAPE(1000000, 1000000),
						    LB_STRIDES(1, 1), 0)));
	checkpoint(&layer);

	if (strcmp(mode, "wait") == 0) {
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		puts("ready");
		fflush(stdout);
		pause();
	}
	if (strcmp(mode, "abort") == 0)
		abort();
	if (strcmp(mode, "fork") == 0) {
		pid_t child = fork();

		if (child == 0) {
			checkpoint(&layer);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	misuse(qt);
	result = implicit(unnamed);
	lb_eval(named("late", lb_log(lb_negative(q))));
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	return lb_ok() ? 0 : 1;
}

/* Memory that is no tensor's; down here, for the lines above are in what is expected. */
const float picture[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
const unsigned short halves[4] = { 0x3c00, 0x4000, 0x7c00, 0x7e00 };
const unsigned short *half_way = halves + 3;

/* Evaluates it, and makes some that take too long to compute, or that no memory holds. */
static void add_slow(lb_tensor *huge)
{
	lb_eval(huge);
	named("slow", lb_sum(huge, LB_ALL_AXES, false));
	named("endless", lb_ones(LB_SHAPE(100000000000000000), LB_F32));
	named("slow_rows", lb_sum(lb_broadcast_to(lb_ones(LB_SHAPE(1000000), LB_F32),
						  LB_SHAPE(4, 1000000, 1000000)),
				  LB_AXES(1, 2), false));
	named("giant", lb_sqrt(lb_reshape(lb_arange(0, 7e9, 1, LB_F64), LB_SHAPE(7000, 1000, 1000))));
}
