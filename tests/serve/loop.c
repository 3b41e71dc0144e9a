/* A program for sessions: a loop of denoising steps whose latents stay lazy, functions to step into, output, and, when asked
 * for, an end without end, a NaN, or a fault. Lines that tests name are marked. */
#include <lazybones.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static lb_tensor *scaled(lb_tensor *x, float by)
{
	lb_tensor *y = lb_multiply(x, lb_scalar(by)); /* in scaled */
	return y;
}

static void denoise(int steps, int evaluate, float by)
{
	LB_SCOPE
	{
		lb_tensor *latents = lb_named("latents", lb_ones(LB_SHAPE(1, 256, 64), LB_F32));
		for (int i = 0; i < steps; i++) {
			lb_tensor *next = scaled(latents, by); /* step */
			lb_named("next", next);
			if (evaluate)
				lb_eval(next);
			printf("step %d\n", i); /* told */
			latents = next;
		}
	}
}

static void when_many(int n)
{
	printf("%d tensors\n", n);
}

static void make_many(int n)
{
	char name[32];

	LB_SCOPE
	{
		for (int i = 0; i < n; i++) {
			snprintf(name, sizeof name, "many.%d", i);
			lb_named(name, lb_ones(LB_SHAPE(2, 3), LB_F32));
		}
		when_many(n);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int steps = argc > 2 ? atoi(argv[2]) : 3;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("hello %s\n", getenv("GREETING") ? getenv("GREETING") : "world"); /* begin */
	denoise(steps, strcmp(how, "lazy") != 0, argc > 3 ? (float)atof(argv[3]) : 2);
	if (strcmp(how, "many") == 0)
		make_many(10000);
	if (strcmp(how, "nan") == 0)
		lb_eval(lb_named("bad", lb_log(lb_negative(lb_ones(LB_SHAPE(4), LB_F32)))));
	if (strcmp(how, "fault") == 0)
		raise(SIGSEGV);
	for (int i = 0; strcmp(how, "chatter") == 0 && i < 20000; i++)
		printf("line %d of much output\n", i);
	while (strcmp(how, "for_ever") == 0)
		usleep(1000);
	printf("done\n");
	return 7;
}
