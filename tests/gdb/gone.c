/* A variable that is optimized out, and one beside it that is not. */
#include "lazybones.h"

__attribute__((noinline)) static void checkpoint(void)
{
	__asm__ volatile("nop");
}

__attribute__((noinline)) static int work(lb_tensor *gone, lb_tensor *named)
{
	lb_release(gone);
	lb_eval(named);
	checkpoint();
	return 3;
}

int main(void)
{
	lb_tensor *named = lb_keep(lb_named("named", lb_zeros(LB_SHAPE(2), LB_F32)));
	lb_tensor *x = lb_keep(lb_ones(LB_SHAPE(2), LB_F32));

	return work(x, named) - 3;
}
