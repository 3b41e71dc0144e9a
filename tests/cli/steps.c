/* In step mode: two graphs of a compiled function, then one that stands still after its first op, in a
 * callback; there it says so, and waits, or with an argument dies. */
#include <lazybones.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool gate(void *unused, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)unused, (void)n_in, (void)n_out;
	out[0] = lb_tanh(lb_multiply(in[0], lb_scalar(2)));
	return out[0] != NULL;
}

static void stand_still(void *data, void *dies)
{
	(void)data;
	printf("%d steps\n", (int)getpid());
	fflush(stdout);
	if (dies)
		abort();
	pause();
}

int main(int argc, char **argv)
{
	static float few[4] = { 1, 2, 3, 4 };
	lb_compiled *f = lb_compile("gate", gate, NULL, (lb_compile_options){ 0 });
	lb_tensor *y = NULL, *sum = NULL;

	(void)argv;
	lb_set_step_mode(LB_STEP_OPS);
	for (int n = 4; n < 6; n++) {
		LB_SCOPE {
			lb_tensor *in = lb_sqrt(lb_arange(0, n, 1, LB_F32)), *out;
			lb_call(f, 1, &in, 1, &out);
			lb_eval(lb_named("gated", out));
		}
	}
	LB_SCOPE {
		lb_tensor *x = lb_from_memory(few, sizeof few, LB_SHAPE(4), LB_F32, stand_still,
					      argc > 1 ? few : NULL);
		sum = lb_keep(lb_named("sum", lb_sum(x, LB_ALL_AXES, false)));
		y = lb_keep(lb_named("y", lb_negative(lb_exp(sum))));
	}
	lb_eval(sum, y);
	return 0;
}
