/* Dies with a bug of each kind in its core: a NaN, a view copied from its raw pointer into a tensor
 * and into plain memory, a wild pointer. The argument says how. */
#include <lazybones.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { NBYTES = 3 * 8 * 10 * sizeof(float), PAGE = 4096 };

struct layer {
	lb_tensor *weights, *inputs[2];
	float *raw;
};

static float *copy;

/* Writes one element too many, where nothing may be written. */
static void overrun(void)
{
	float *edge = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(edge + PAGE / sizeof *edge, PAGE, PROT_NONE);
	lb_named("edge", lb_from_memory(edge, PAGE, LB_SHAPE(PAGE / sizeof *edge), LB_F32, NULL, NULL));
	for (size_t i = 0; i <= PAGE / sizeof *edge; i++)
		((volatile float *)edge)[i] = (float)i;
}

/* The evaluation itself dies: a leaf over memory that may not be read. */
static void unreadable(void)
{
	void *page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	lb_tensor *leaf = lb_named("leaf", lb_from_memory(page, PAGE, LB_SHAPE(PAGE / 4), LB_F32, NULL, NULL));
	lb_tensor *sum = lb_named("sum", lb_sum(leaf, LB_ALL_AXES, false));
	lb_eval(sum);
}

/* Overwrites the frames of its callers. */
static void smash(void)
{
	volatile unsigned long here[1];
	for (int i = 0; i < 64; i++)
		here[i] = 0x5a5a000000000000 + (unsigned long)i;
	__builtin_trap();
}

static void wild_call(const struct layer *layer)
{
	void (*volatile function)(const struct layer *) = NULL;
	function(layer);
}

static void work(const char *how)
{
	lb_tensor *x = lb_named("x", lb_add(lb_random_normal(LB_SHAPE(3, 8, 10), LB_F32, lb_key(1)),
					    lb_scalar(1)));
	lb_tensor *hwc = lb_named("hwc", lb_transpose(x, LB_AXES(1, 2, 0)));
	lb_tensor *zeros = lb_zeros(LB_SHAPE(2, 2), LB_F32);
	lb_tensor *bad = lb_named("bad", lb_divide(zeros, zeros));
	lb_eval(hwc, bad);
	lb_tensor *tiled = lb_named("tiled", lb_from_data(lb_raw_data(hwc), NBYTES, LB_SHAPE(8, 10, 3), LB_F32));
	lb_tensor *flipped = lb_named("flipped", lb_transpose(lb_exp(x), LB_AXES(2, 1, 0)));
	lb_eval(flipped);
	copy = malloc(NBYTES);
	memcpy(copy, lb_raw_data(flipped), NBYTES);
	struct layer layer = { tiled, { bad, lb_named("later", lb_exp(tiled)) }, (float *)lb_raw_data(hwc) };
	LB_SCOPE {
		lb_tensor *gone = lb_multiply(lb_arange(0, 1 << 16, 1, LB_F32), lb_scalar(2));
		lb_eval(gone);
	}
	if (strcmp(how, "unreadable") == 0)
		unreadable();
	else if (strcmp(how, "smash") == 0)
		smash();
	else if (strcmp(how, "call") == 0)
		wild_call(&layer);
	else
		overrun();
}

int main(int argc, char **argv)
{
	LB_SCOPE
		work(argc > 1 ? argv[1] : "overrun");
	return 0;
}
