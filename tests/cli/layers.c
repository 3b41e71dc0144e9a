/* Layers whose outputs are kept; with an argument, one is turned by a reshape that should be none, and what
 * comes of it has NaN. It dies. */
#include <lazybones.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 6, WRONG = 3 };

int main(int argc, char **argv)
{
	char name[32];
	lb_tensor *h = lb_named("x", lb_random_normal(LB_SHAPE(4, 16), LB_F32, lb_key(1)));

	(void)argv;
	for (int i = 0; i < LAYERS; i++) {
		bool is_wrong = argc > 1 && i == WRONG;
		lb_tensor *w = lb_random_normal(LB_SHAPE(16, 16), LB_F32, lb_key(10 + (uint64_t)i));
		lb_tensor *out = lb_matmul(h, w);
		snprintf(name, sizeof name, "layers.%d.w", i);
		lb_named(name, w);
		snprintf(name, sizeof name, "layers.%d.out", i);
		if (is_wrong)
			out = lb_transpose(lb_reshape(out, LB_SHAPE(16, 4)), LB_AXES(1, 0));
		h = lb_named("hidden", lb_tanh(lb_named(name, out)));
		lb_eval(h, w);
	}
	/* a name that is written as the second of another one's would be */
	lb_eval(lb_named("odd", lb_arange(0, 3, 1, LB_F32)), lb_named("odd@2", lb_arange(3, 6, 1, LB_F32)),
		lb_named("odd", lb_arange(6, 9, 1, LB_F32)));
	lb_named("last", lb_log(argc > 1 ? h : lb_abs(h)));
	lb_named("size", argc > 1 ? lb_arange(0, 5, 1, LB_F32) : lb_arange(0, 4, 1, LB_F32));
	abort();
}
