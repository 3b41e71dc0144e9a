#include <lazybones.h>
#include <stdio.h>

static void stop_here(lb_tensor *scaled)
{
	printf("tensor %llu\n", (unsigned long long)lb_id(scaled));
}

int main(void)
{
	LB_SCOPE {
		lb_tensor *weights = lb_named("weights", lb_arange(0, 6, 1, LB_F32));
		lb_eval(weights);
		lb_tensor *scaled = lb_named("scaled", lb_multiply(weights, lb_scalar(2)));
		stop_here(scaled);
		printf("sum %g\n", lb_item(lb_sum(scaled, LB_ALL_AXES, false)));
	}
	if (!lb_ok())
		printf("%s\n", lb_error_message());
	return lb_ok() ? 0 : 1;
}
