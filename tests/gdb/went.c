/* Tensors that have gone, variables that still point to them, and several of one name. */
#include "lazybones.h"

__attribute__((noinline)) static void checkpoint(lb_tensor *stale, lb_tensor *here)
{
	(void)stale;
	(void)here;
	__asm__ volatile("nop");
}

static lb_tensor *step(double value)
{
	return lb_named("w", lb_full(LB_SHAPE(2), value, LB_F32));
}

int main(void)
{
	lb_tensor *stale = NULL, *here = NULL;

	LB_SCOPE {
		stale = lb_keep(lb_named("old", lb_ones(LB_SHAPE(2), LB_F32)));
		here = lb_keep(lb_named("here", lb_scalar(3)));
		lb_eval(here);
	}
	lb_release(stale);
	for (int i = 0; i < 3; i++)
		LB_SCOPE {
			lb_tensor *next = step(i);
			lb_eval(next);
			if (i == 2)
				checkpoint(stale, here);
		}
	checkpoint(stale, here);
	LB_SCOPE
		lb_replace(&here, lb_named("other", lb_scalar(4)));
	checkpoint(stale, here);
	LB_SCOPE {
		lb_tensor *vast = lb_as_strided(here, LB_SHAPE(1 << 30, 1 << 30), LB_STRIDES(0, 0), 0);
		lb_eval(lb_named("vast", vast));
		checkpoint(stale, vast);
	}
	return 0;
}
