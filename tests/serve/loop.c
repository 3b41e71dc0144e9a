/* A program for sessions: a loop of denoising steps whose latents stay lazy, functions to step into, output, and, when asked
 * for, an end without end, a NaN, or a fault. Lines that tests name are marked. */
#include <lazybones.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* Three of a name, each in a block of its own. */
static void shadow(void)
{
	LB_SCOPE
	{
		lb_tensor *x = lb_named("outer", lb_ones(LB_SHAPE(2), LB_F32)), *null = NULL, *wild = (lb_tensor *)0x4141414141,
			  *k[2] = { x, NULL };
		struct layer {
			lb_tensor *w;
		} l[2] = { { x }, { NULL } };
		lb_eval(x);
		{
			lb_tensor *x = lb_named("inner", lb_full(LB_SHAPE(3), 2, LB_F32));
			lb_eval(x);
			{
				lb_tensor *x = lb_named("innermost", lb_full(LB_SHAPE(5), 3, LB_F32));
				lb_eval(x);
				printf("shadowed %d\n", null == wild || k[1] == l[0].w); /* shadowed */
			}
		}
	}
}

/* between functions */
static void when_many(int n)
{
	/* no code */
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

static lb_tensor *weight(int layer, const char *name, int64_t rows, int64_t columns)
{
	char text[64];

	snprintf(text, sizeof text, "layers.%d.%s", layer, name);
	return lb_named(text, lb_ones(LB_SHAPE(rows, columns), LB_F32));
}

static void when_drawn(void)
{
	printf("drawn\n");
}

/* A network whose weights have the names of modules, a grid of which each element is known, a tensor of 2^30
 * elements that nobody has touched, and memory that comes and goes. */
static void make_drawings(int layers)
{
	float grid[40][60];
	size_t n = (size_t)4 << 30;
	void *huge = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (int i = 0; i < 40 * 60; i++)
		grid[i / 60][i % 60] = (float)(i / 60 * 100 + i % 60);
	grid[7][11] = 0.0f / 0.0f;
	LB_SCOPE
	{
		lb_tensor *x = lb_named("tokens", lb_ones(LB_SHAPE(4, 8), LB_F32));
		for (int i = 0; i < layers; i++) {
			lb_tensor *q = lb_matmul(x, weight(i, "attn.wq", 8, 8));
			lb_tensor *k = lb_matmul(x, weight(i, "attn.wk", 8, 8));
			x = lb_add(x, lb_matmul(lb_multiply(q, k), weight(i, "attn.wo", 8, 8)));
			lb_tensor *up = lb_tanh(lb_matmul(x, weight(i, "mlp.up", 8, 16)));
			x = lb_add(x, lb_matmul(up, weight(i, "mlp.down", 16, 8)));
		}
		lb_named("network", x);
		lb_named("grid", lb_from_data(grid, sizeof grid, LB_SHAPE(40, 60), LB_F32));
		lb_named("grid2", lb_from_data(grid, sizeof grid, LB_SHAPE(40, 60), LB_F32));
		lb_named("pages", lb_from_data(grid, sizeof grid, LB_SHAPE(4, 10, 60), LB_F32));
		if (huge != MAP_FAILED)
			lb_named("huge", lb_from_memory(huge, n, LB_SHAPE(32768, 32768), LB_F32, NULL, NULL));
		lb_set_cache_limit(0);
		for (int i = 0; i < 500; i++)
			LB_SCOPE
				lb_eval(lb_add(lb_full(LB_SHAPE(100 + i, 100), i, LB_F32), lb_scalar(1)));
		when_drawn();
	}
	munmap(huge, n);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int steps = argc > 2 ? atoi(argv[2]) : 3;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("hello %s\n", getenv("GREETING") ? getenv("GREETING") : "world"); /* begin */
	denoise(steps, strcmp(how, "lazy") != 0, argc > 3 ? (float)atof(argv[3]) : 2);
	if (strcmp(how, "shadow") == 0)
		shadow();
	if (strcmp(how, "many") == 0)
		make_many(10000);
	if (strcmp(how, "drawings") == 0)
		make_drawings(argc > 3 ? atoi(argv[3]) : 3);
	if (strcmp(how, "nan") == 0)
		lb_eval(lb_named("bad", lb_log(lb_negative(lb_ones(LB_SHAPE(4), LB_F32)))));
	if (strcmp(how, "fault") == 0)
		raise(SIGSEGV);
	for (int i = 0; strcmp(how, "chatter") == 0 && i < 20000; i++)
		printf("line %d of much output\n", i);
	while (strcmp(how, "for_ever") == 0)
		usleep(1000);
	printf("done\n"); /* end */
	return 7;
}
