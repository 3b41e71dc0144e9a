/* One rank of a job: computes, and dies. Rank 2 got another batch. */
#include <lazybones.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	double more = argc > 1 && atoi(argv[1]) == 2 ? 1 : 0;

	LB_SCOPE {
		lb_tensor *weights = lb_named("weights", lb_arange(0, 24, 1, LB_F32));
		lb_tensor *batch = lb_named("batch", lb_add(weights, lb_full(LB_SHAPE(24), more, LB_F32)));
		lb_tensor *first = lb_named("hidden", lb_multiply(batch, weights));
		lb_tensor *second = lb_named("hidden", lb_multiply(first, weights));
		lb_tensor *loss = lb_named("loss", lb_sum(second, LB_ALL_AXES, false));

		if (lb_eval(weights, batch, second) && !lb_is_ready(loss))
			abort();
	}
	return 1;
}
