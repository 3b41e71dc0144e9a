/* What the session `compiled` looks at: a compiled function, and a result that is not evaluated. */
#include <stdio.h>

#include "lazybones.h"

__attribute__((noinline)) void checkpoint(lb_tensor *y)
{
	__asm__ volatile("" : : "r"(y) : "memory");
}

static bool activation(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *h = lb_multiply(in[0], *(lb_tensor **)context);

	out[0] = lb_divide(h, lb_add(lb_exp(lb_negative(h)), lb_scalar(1)));
	return n_in == 1 && n_out == 1 && out[0];
}

static bool hasty(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	out[0] = lb_exp(in[0]);
	printf("%g\n", lb_item(lb_sum(out[0], LB_ALL_AXES, false)));
	return n_in == n_out && !context;
}

int main(void)
{
	lb_tensor *scale = lb_named("scale", lb_full(LB_SHAPE(3), 0.5, LB_F32));
	lb_tensor *x = lb_named("x", lb_arange(0, 3, 1, LB_F32)), *y;
	lb_compiled *f = lb_compile("activation", activation, &scale, (lb_compile_options){ .limit = 4 });
	lb_compiled *g = lb_compile("hasty", hasty, NULL, (lb_compile_options){ 0 });

	lb_eval(scale, x);
	lb_call(f, 1, &x, 1, &y);
	x = lb_named("rows", lb_reshape(lb_arange(0, 6, 1, LB_F32), LB_SHAPE(2, 3)));
	lb_eval(x);
	lb_call(f, 1, &x, 1, &y);
	lb_named("y", y);
	checkpoint(y);
	lb_call(g, 1, &x, 1, &y);
	lb_compiled_free(f);
	lb_compiled_free(g);
	return 0;
}
