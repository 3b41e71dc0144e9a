/* What the tests of `catch graph` look at: graphs of 100 additions, and one of 31. */
#include "lazybones.h"

static lb_tensor *chain(int n)
{
	lb_tensor *x = lb_ones(LB_SHAPE(2), LB_F32), *y = x;

	for (int i = 1; i <= n; i++)
		y = lb_add(y, x);
	return y;
}

__attribute__((noinline)) void checkpoint(void)
{
	__asm__ volatile("" : : : "memory");
}

int main(void)
{
	for (int turn = 0; turn < 3; turn++) {
		LB_SCOPE {
			lb_eval(lb_named("sum", chain(100)));
		}
	}
	LB_SCOPE {
		lb_tensor *y = chain(31);
		checkpoint();
		lb_eval(y);
	}
	return lb_ok() ? 0 : 1;
}
