/* What the session `weights` looks at: parameters that the program keeps, and activations with names, in a scope. */
#include "lazybones.h"

__attribute__((noinline)) static void checkpoint(void)
{
	__asm__ volatile("nop");
}

int main(void)
{
	lb_tensor *w = lb_keep(lb_named("layer.weight", lb_ones(LB_SHAPE(4, 4), LB_F32)));
	lb_tensor *b = lb_keep(lb_named("layer.bias", lb_zeros(LB_SHAPE(4), LB_F32)));

	LB_SCOPE {
		lb_tensor *x = lb_named("input", lb_arange(0, 4, 1, LB_F32));
		lb_tensor *h = lb_named("hidden", lb_add(lb_matmul(x, w), b));
		lb_tensor *y = lb_named("output", lb_tanh(h));
		lb_eval(x, h, y, w, b);
		checkpoint();
	}
	lb_release(w);
	lb_release(b);
	return lb_ok() ? 0 : 1;
}
