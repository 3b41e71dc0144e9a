/* What is followed: a loss that falls, is NaN once, and the program's own lines beside it, unless FOLLOWED_QUIET is set. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lazybones.h"

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 4;

	for (int i = 1; i <= rounds; i++) {
		LB_SCOPE {
			lb_tensor *w = lb_named("w", lb_multiply(lb_ones(LB_SHAPE(2, 3), LB_F32), lb_scalar(i)));
			lb_tensor *loss = lb_divide(lb_scalar(i == 3 ? NAN : 1), lb_mean(w, LB_ALL_AXES, false));
			lb_eval(lb_named("loss", loss), w);
		}
		if (!getenv("FOLLOWED_QUIET"))
			fprintf(stderr, "{\"round\": %d}\n", i);
	}
	return 7;
}
