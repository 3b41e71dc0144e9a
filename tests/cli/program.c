/* Makes a few tensors, says so, and waits; with an argument, dies. */
#include <lazybones.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argv;
	LB_SCOPE {
		lb_tensor *q = lb_named("q", lb_arange(0, 24, 1, LB_F32));
		lb_tensor *view = lb_named("view", lb_transpose(lb_reshape(q, LB_SHAPE(4, 6)),
								LB_ALL_AXES));
		lb_tensor *lazy = lb_named("lazy", lb_exp(view));
		if (!lb_eval(q, view) || lb_is_ready(lazy))
			return 1;
		printf("%d %p\n", (int)getpid(), lb_raw_data(q));
		fflush(stdout);
		if (argc > 1)
			abort();
		pause();
	}
	return 0;
}
