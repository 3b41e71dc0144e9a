/* Attention with a mask of -Inf, first over some keys, then over none. */
#include <math.h>
#include <stddef.h>

#include "lazybones.h"

static void attend(int keys)
{
	LB_SCOPE {
		lb_tensor *taken = lb_less(lb_arange(0, 4, 1, LB_F32), lb_scalar(keys));
		lb_tensor *bias = lb_named("bias", lb_where(taken, lb_scalar(0), lb_scalar(-INFINITY)));
		lb_tensor *scores = lb_named("scores", lb_add(lb_ones(LB_SHAPE(2, 4), LB_F32), bias));
		lb_tensor *weights = lb_named("weights", lb_softmax(scores, LB_AXES(-1)));
		lb_eval(lb_named("out", lb_multiply(weights, lb_scalar(2))));
	}
}

int main(void)
{
	attend(3);
	attend(0);
	return 0;
}
