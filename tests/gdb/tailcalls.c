/* Frames as an optimiser leaves them: a function without a frame of its own, called by an inlined function, in a
 * function that a tail call went to. gdb makes up the caller that made the tail call. */
#include "lazybones.h"

static int calls;

__attribute__((noinline)) void lowest(int *count)
{
	++*count;
}

static inline __attribute__((always_inline)) void inlined(int *count)
{
	lowest(count);
	++calls;
}

__attribute__((noinline)) static void bottom(int *count)
{
	inlined(count);
	++*count;
}

__attribute__((noinline)) void tail(int *count)
{
	++calls;
	bottom(count);
}

int main(void)
{
	lb_tensor *q = lb_named("q", lb_ones(LB_SHAPE(3), LB_F32));
	int count = 0;

	lb_eval(q);
	tail(&count);
	tail(&count);
	return calls + count - 8;
}
