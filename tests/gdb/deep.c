/* More than is usual: of call sites in one graph, and of frames in one stack. */
#include "lazybones.h"

#define TEN(call) call call call call call call call call call call
#define THOUSAND(call) TEN(TEN(TEN(call)))

__attribute__((noinline)) void checkpoint(void)
{
	__asm__ volatile("nop" : : : "memory");
}

/* A thousand calls, of which each has an address of its own. */
static void many_sites(void)
{
	LB_SCOPE {
		lb_tensor *x = lb_arange(1, 5, 1, LB_F32);
		THOUSAND(x = lb_negative(x);)
		lb_eval(x);
	}
}

static int descend(lb_tensor *held, int depth)
{
	lb_tensor *mine = depth == 100 ? held : NULL;

	if (depth == 299)
		checkpoint();
	else
		depth += descend(held, depth + 1);
	return depth + (mine != NULL);
}

int main(void)
{
	LB_SCOPE {
		many_sites();
		descend(lb_named("held", lb_ones(LB_SHAPE(2), LB_F32)), 0);
	}
	return lb_ok() ? 0 : 1;
}
