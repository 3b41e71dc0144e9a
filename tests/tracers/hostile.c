/* Names everything with orders to a terminal, and waits for a line. */
#include <lazybones.h>
#include <pthread.h>
#include <stdio.h>

#define HOSTILE "h\033[31m\302\233" "7m\342\200\256\233\300x"

static bool half(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	if (n_in == 1 && n_out == 1)
		out[0] = lb_divide(in[0], lb_scalar(0));
	return out[0];
}

int main(void)
{
	char line[16];
	lb_stream stream = lb_stream_new(HOSTILE);
	lb_compiled *compiled = lb_compile(HOSTILE, half, NULL, (lb_compile_options){ 0 });
	lb_tensor *x = lb_keep(lb_named(HOSTILE, lb_ones(LB_SHAPE(4), LB_F32))), *y;

	pthread_setname_np(pthread_self(), HOSTILE);
	LB_SCOPE {
		LB_ON_STREAM(stream)
			lb_eval(x, lb_transpose(x, LB_ALL_AXES));
		lb_call(compiled, 1, &x, 1, &y);
		y = lb_keep(lb_named("y" HOSTILE, y));
	}
	lb_load_npy("/" HOSTILE); /* fails, and says so */
	printf("ready\n");
	fflush(stdout);
	return fgets(line, sizeof line, stdin) == NULL;
}
