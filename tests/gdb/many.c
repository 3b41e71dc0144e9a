/* More graphs than the runtime keeps: three rounds of a long one, then short ones of all sizes,
 * some of them twice. `many N` makes N of these, 600 without a word. */
#include <stdlib.h>

#include "lazybones.h"

static volatile double result;

__attribute__((noinline)) void done(void)
{
	__asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) static void rounds(int n)
{
	for (int i = 0; i < n; i++) {
		LB_SCOPE {
			lb_tensor *x = lb_arange(0, 12, 1, LB_F32);
			lb_tensor *m = lb_reshape(x, LB_SHAPE(3, 4));
			lb_tensor *p = lb_matmul(m, lb_transpose(m, LB_SHAPE(1, 0)));
			result += lb_item(lb_sum(lb_exp(p), LB_ALL_AXES, false));
		}
	}
}

static void short_one(int n)
{
	LB_SCOPE {
		lb_tensor *x = lb_full(LB_SHAPE(n), 0, LB_F32);
		if (lb_item(lb_sum(lb_exp(x), LB_ALL_AXES, false)) != n)
			abort();
	}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 600;

	rounds(3);
	for (int i = 1; i <= n; i++) {
		short_one(i);
		if (i % 3 == 0)
			short_one(i);
	}
	done();
	lb_set_step_mode(LB_STEP_OFF);
	short_one(7);
	lb_set_step_mode(LB_STEP_OPS);
	short_one(7);
	return 0;
}
