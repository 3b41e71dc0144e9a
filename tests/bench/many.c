/* A program to stop in, with 100,000 named tensors of a few shapes, then with a chain of as
 * many operations. */
#include "bench.h"

#include <lazybones.h>

enum { MANY = 100000, SHAPES = 100, BATCH = 1000 };

static volatile int stops;

__attribute__((noinline)) static void stop_here(void)
{
	stops++;
}

int main(void)
{
	LB_SCOPE {
		for (int i = 0; i < MANY; i += BATCH) {
			lb_tensor *x[BATCH];
			for (int k = 0; k < BATCH; k++) {
				char name[64];
				snprintf(name, sizeof name, "layers.%d.weight", i + k);
				x[k] = lb_named(name, lb_full(LB_SHAPE(2, 1 + k % SHAPES), i + k, LB_F32));
			}
			lb_eval_n(BATCH, x);
		}
		stop_here();
		lb_eval(lb_named("one_more", lb_ones(LB_SHAPE(3), LB_F32)));
		lb_tensor *chain = lb_ones(LB_SHAPE(3), LB_F32);
		for (int i = 0; i < MANY; i++)
			chain = lb_negative(chain);
		lb_named("chain", chain);
		stop_here();
	}
	return lb_ok() ? 0 : 1;
}
