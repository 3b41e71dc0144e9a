/* A program to stop in: one tensor of 512 MiB and one of a screenful. */
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
		lb_tensor *big = lb_named("big",
			lb_random_normal(LB_SHAPE(16, 1024, 8192), LB_F32, lb_key(1)));
		lb_tensor *small = lb_named("numbers", lb_arange(0, 64, 1, LB_F32));
		lb_eval(big, small);
		big_data = lb_data(big);
		stop_here();
	}
	return lb_ok() && big_data ? 0 : 1;
}
