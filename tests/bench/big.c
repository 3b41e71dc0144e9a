/* A program to stop in: one tensor of 512 MiB, one of a screenful, and a lazy one of 52 GiB. */
#include "bench.h"

#include <lazybones.h>

static volatile int stops;
static const void *big_data;

__attribute__((noinline)) static void stop_here(void)
{
	stops++;
}

int main(void)
{
	LB_SCOPE {
		lb_tensor *big = lb_named("big", lb_random_normal(LB_SHAPE(16, 1024, 8192), LB_F32, lb_key(1)));
		lb_tensor *small = lb_named("numbers", lb_arange(0, 64, 1, LB_F32));
		lb_named("giant", lb_sqrt(lb_reshape(lb_arange(0, 7e9, 1, LB_F64), LB_SHAPE(7000, 1000, 1000))));
		lb_eval(big, small);
		big_data = lb_data(big);
		stop_here();
	}
	return lb_ok() && big_data ? 0 : 1;
}
